// Package unit reads the unit files of systemd, without asking systemd: what a
// unit's fragment and drop-ins say, where each value stands, and which of them
// put a service into a mount namespace of its own.
//
// What systemd was told at run time is in /run/systemd and is read too; what was
// changed on disk and not reloaded yet is read as it is on disk.
package unit
