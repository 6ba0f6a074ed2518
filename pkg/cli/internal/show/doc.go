// Package show prints what the verbs found: the JSON that is their contract,
// and tables, trees and diagrams for people.
//
// Names of pods, volumes and files are chosen by others. Printed for a person
// they are one word of one line, whatever they contain: see [Word].
package show
