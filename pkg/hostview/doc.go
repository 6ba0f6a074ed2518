// Package hostview answers, for one path of the host, which mount covers it in
// the mount namespace of the runtime, what its propagation is and which
// superblock lies below; and reads the mount tables of the runtime and of its
// containers.
//
// Two rungs lead to the same answer. "statmount" (Linux 6.8) asks the kernel
// about one mount and costs the same on every node; "mountinfo" looks the mount
// up in a cached /proc/<pid>/mountinfo.
//
// It also reads the few files of the host that say more: bundles, their
// specifications, what the kubelet wrote down, what a file system tells of
// itself; and finds the runtimes by their shims.
//
// Nothing here waits for a file system: a path that the kernel has not cached
// is walked by a helper goroutine which is waited for only shortly, whatever
// else can wait is asked by one as well, and a mount with a stuck helper is
// asked no more. What could not be found out is an error of type *CannotTell,
// never a "no".
package hostview
