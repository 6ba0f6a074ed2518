// Package exposure says who can reach a volume, a path or a directory of secrets
// now: each container, and each other group of processes in a mount namespace
// of its own, by which of its mounts, whether it can write there, and as which
// user; and who can mount onto the host.
//
// It is about reach by mounts, not about permission: modes and ACLs of files,
// SELinux and AppArmor are not judged, which is why the user ids and the
// capabilities that override modes are told. What a process has open already,
// and file handles (open_by_handle_at(2)), are no mounts and not looked for.
//
// The kernel's tables are read and nothing else: no path is walked, nothing is
// opened in a volume, nothing is kept open.
package exposure
