// Package spool keeps records in files, in order, until somebody takes them,
// also over the death of the process that wrote them.
//
// A directory holds segments, "0000000000000001.spool" and so on; each is a
// row of frames. Only the newest segment of this process is appended to, so
// that what a killed process or a full disk left half written is the end of a
// file and damages nothing else. A record that was taken is marked in its
// frame, and a segment of which all were taken is removed. Nothing is synced:
// the page cache outlives a killed process, and the directory is one that a
// reboot empties.
//
// A record that was handed out and not yet marked when the process was killed
// is handed out again: at most one.
//
// Damage is found by checksums and loses what it hit: a record, or where a
// frame's header was hit, the rest of that segment. The reader never looks for
// the next frame by its first bytes, since a record may hold text that looks
// like one.
package spool
