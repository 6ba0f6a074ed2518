// Package pins finds what holds a volume: which mounts in which mount
// namespaces, which overlays, open files, devices and services, and how each is
// made to let go. It reads and changes nothing.
//
// A holder is only named with evidence from the kernel's tables. Where nothing
// was found the report says what was searched and what can still be it.
package pins
