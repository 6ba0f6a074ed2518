package linux

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// MountPropagation is what a mount is made by SetPropagation.
type MountPropagation uint64

// The kinds. A mount that is the only one of its peer group and made a slave
// keeps the master of that group, and is private where that has none.
const (
	MakePrivate MountPropagation = unix.MS_PRIVATE
	MakeSlave   MountPropagation = unix.MS_SLAVE
	MakeShared  MountPropagation = unix.MS_SHARED
)

// CloneMount returns a copy, mounted nowhere, of the mount that an open file is
// on, from that file down; recursive copies what is mounted below as well. It is
// gone when it is closed, unless it was attached. The mount must be in the
// mount namespace the thread is in, see Traveller. It takes CAP_SYS_ADMIN.
// Requires at least Linux 5.2 (open_tree).
func CloneMount(f *os.File, recursive bool) (*os.File, error) {
	flags := uint(unix.OPEN_TREE_CLONE | unix.OPEN_TREE_CLOEXEC | unix.AT_EMPTY_PATH)
	if recursive {
		flags |= unix.AT_RECURSIVE
	}
	fd, err := unix.OpenTree(int(f.Fd()), "", flags)
	if err != nil {
		return nil, mountCall("open_tree", "5.2", f, err)
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

// SetPropagation changes the mount that is open at its root and, recursive, all
// that is mounted below it: all or, with an error, none. The mount must be in the
// mount namespace the thread is in, or in none. It takes CAP_SYS_ADMIN over that
// namespace. Requires at least Linux 5.12 (mount_setattr).
func SetPropagation(f *os.File, to MountPropagation, recursive bool) error {
	flags := uint(unix.AT_EMPTY_PATH)
	if recursive {
		flags |= unix.AT_RECURSIVE
	}
	return mountCall("mount_setattr", "5.12", f, unix.MountSetattr(int(f.Fd()), "", flags, &unix.MountAttr{Propagation: uint64(to)}))
}

// JoinGroup gives the private mount to the propagation of the mount from, as if
// it had been cloned from it: to becomes a peer or a slave as from is. Both are
// open at their roots, are of one superblock, and to shows what from shows or
// what is below it. It takes CAP_SYS_ADMIN over the namespaces of both.
// Requires at least Linux 5.15 (MOVE_MOUNT_SET_GROUP).
func JoinGroup(from, to *os.File) error {
	err := moveMount(from, to, unix.MOVE_MOUNT_SET_GROUP)
	if errors.Is(err, unix.EINVAL) {
		if probe := CanJoinGroup(); probe != nil {
			return probe
		}
	}
	return mountCall("move_mount MOVE_MOUNT_SET_GROUP", "5.15", to, err)
}

// CanJoinGroup returns nil where the kernel has JoinGroup, and why not else. It
// changes nothing: the kernel looks at the flag first and at the descriptor,
// which is none, then.
func CanJoinGroup() error {
	err := unix.MoveMount(-1, "", -1, "", unix.MOVE_MOUNT_SET_GROUP|unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
	if errors.Is(err, unix.EBADF) {
		return nil
	}
	return &NotSupportedError{"move_mount MOVE_MOUNT_SET_GROUP", "5.15", os.NewSyscallError("move_mount", err)}
}

// AttachMount mounts what CloneMount returned on the file or directory that on
// is open at, which must be in the mount namespace the thread is in. It takes
// CAP_SYS_ADMIN over that. Requires at least Linux 5.2 (move_mount).
func AttachMount(tree, on *os.File) error {
	return mountCall("move_mount", "5.2", on, moveMount(tree, on, 0))
}

func moveMount(from, to *os.File, flags int) error {
	return unix.MoveMount(int(from.Fd()), "", int(to.Fd()), "", flags|unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
}

func mountCall(name, since string, f *os.File, err error) error {
	if errors.Is(err, unix.ENOSYS) {
		err = &NotSupportedError{name, since, err}
	}
	if err == nil {
		return nil
	}
	return &os.PathError{Op: name, Path: f.Name(), Err: err}
}
