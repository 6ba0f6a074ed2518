// Package policyfile reads the files of a policy, and keeps the last ones that
// were good. The daemon and "mountward check" load a policy by it and by nothing
// else.
//
// A policy is the file that the settings name and the drop-ins beside it,
// policy.d/*.toml, in the order of their names byte by byte. Hidden files and
// those with another ending (an editor's "x.toml~") are no drop-ins. A drop-in
// that cannot be read is an error of the whole policy: rules that somebody
// believes in are never left out in silence.
package policyfile
