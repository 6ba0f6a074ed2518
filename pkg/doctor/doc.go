// Package doctor says whether a node's mount propagation is sound, and if not
// why, what it breaks and what mends it for good. It reads and changes nothing.
//
// Each check is a function of a Snapshot. A finding carries its evidence: the
// line of the kernel's table and the command that shows it.
package doctor
