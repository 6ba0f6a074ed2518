// Package exposure says who can reach a volume, a path or a directory of secrets
// now: each container, and each other group of processes in a mount namespace
// of its own, by which of its mounts, whether it can write there, and as which
// user; and who can mount onto the host.
//
// It is about reach, not about permission: modes and ACLs of files, SELinux and
// AppArmor are not judged, which is why the user ids and the capabilities that
// override modes are told. What a process has open or stands in counts, also
// where no mount shows it any more. Not looked for is what needs neither: files
// that are only mapped, descriptors on their way through a socket, and file
// handles (open_by_handle_at(2)).
//
// The kernel's tables and the links of processes are read. No path is walked but
// those of overlays' directories, which a host view does that waits for nothing;
// no file is opened, and nothing is kept open.
package exposure
