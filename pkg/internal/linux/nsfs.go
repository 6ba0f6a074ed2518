package linux

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// MountNS is what nsfs tells of a mount namespace.
type MountNS struct {
	Inode uint64 // as in mnt:[INODE]
	ID    uint64 // by which statmount(2) knows it; 0 before Linux 6.11
	User  uint64 // inode of the user namespace that owns it; 0 where that is above ours
}

// The ioctls of linux/nsfs.h. Those of the walk take a struct mnt_ns_info and
// return a descriptor, close-on-exec.
const (
	nsGetUserNS     = 0xb701     // Linux 4.9
	nsGetNextMount  = 0x8010b70b // Linux 6.12
	nsGetPrevMount  = 0x8010b70c // Linux 6.12
	maxNamespaces   = 1 << 17
	mountNSInfoSize = 16
)

// mountNSInfo is struct mnt_ns_info of linux/nsfs.h.
type mountNSInfo struct {
	size, mounts uint32
	id           uint64
}

// WalkMountNamespaces visits the kernel's list of mount namespaces, also those
// that no process is in, until visit returns false. The file is closed after
// the visit: whoever keeps a namespace open keeps all its mounts.
//
// Requires at least Linux 6.12 (NS_MNT_GET_NEXT). Linux 7.0, and stable kernels
// from 6.12 on since March 2026 ("nsfs: tighten permission checks for ns iteration
// ioctls"), answer EPERM but to a process in the first pid namespace that has
// CAP_SYS_ADMIN in the first user namespace (measured on 6.18.44). Those before
// leave out what is not ours, below the first user namespace all that is owned
// by those above.
func WalkMountNamespaces(proc string, visit func(f *os.File, ns MountNS) bool) error {
	own, err := open(proc+"/self/ns/mnt", unix.O_RDONLY)
	if err != nil {
		return err
	}
	defer own.Close()
	ns, err := DescribeMountNS(own)
	if err != nil {
		return err
	}
	// Without the right, or the call, nothing is visited.
	first, err := neighbour(own, nsGetPrevMount)
	if err != nil || !visit(own, ns) {
		closeIf(first)
		return err
	}
	if more, err := walkFrom(first, nsGetPrevMount, visit); err != nil || !more {
		return err
	}
	first, err = neighbour(own, nsGetNextMount)
	if err != nil {
		return err
	}
	_, err = walkFrom(first, nsGetNextMount, visit)
	return err
}

// walkFrom visits f and what follows it, and closes them.
func walkFrom(f *os.File, direction uintptr, visit func(*os.File, MountNS) bool) (more bool, err error) {
	for n := 0; f != nil; n++ {
		ns, err := DescribeMountNS(f)
		if err == nil && n == maxNamespaces {
			err = fmt.Errorf("walk mount namespaces: more than %d", maxNamespaces)
		}
		if err != nil || !visit(f, ns) {
			_ = f.Close()
			return false, err
		}
		next, err := neighbour(f, direction)
		_ = f.Close()
		if err != nil {
			return false, err
		}
		f = next
	}
	return true, nil
}

// neighbour returns nil at the end of the list.
func neighbour(f *os.File, direction uintptr) (*os.File, error) {
	info := mountNSInfo{size: mountNSInfoSize}
	fd, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), direction, uintptr(unsafe.Pointer(&info)))
	if errno == 0 {
		return os.NewFile(fd, "mnt"), nil
	}
	if errno == unix.ENOENT {
		return nil, nil
	}
	var err error = errno
	if errno == unix.ENOTTY {
		err = &NotSupportedError{"NS_MNT_GET_NEXT", "6.12", errno}
	}
	return nil, &os.PathError{Op: "ioctl NS_MNT_GET_NEXT", Path: f.Name(), Err: err}
}

func closeIf(f *os.File) {
	if f != nil {
		_ = f.Close()
	}
}

// OpenTaskMountNS opens the mount namespace of a process or thread, by the
// directory of that in procfs.
func OpenTaskMountNS(dir string) (*os.File, error) { return open(dir+"/ns/mnt", unix.O_RDONLY) }

// DescribeMountNS asks an open file of nsfs. What the kernel or our rights do
// not tell is left zero.
func DescribeMountNS(f *os.File) (MountNS, error) {
	st, err := fstat(f)
	if err != nil {
		return MountNS{}, err
	}
	ns := MountNS{Inode: st.Ino}
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), nsGetMountNamespaceID, uintptr(unsafe.Pointer(&ns.ID))); errno != 0 {
		ns.ID = 0
	}
	fd, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), nsGetUserNS, 0)
	if errno != 0 {
		return ns, nil
	}
	defer unix.Close(int(fd))
	var user unix.Stat_t
	if err := unix.Fstat(int(fd), &user); err == nil {
		ns.User = user.Ino
	}
	return ns, nil
}

var errNotNS = errors.New("not the file of that mount namespace")

// OpenMountNS opens the mount namespace with the inode number by a path that
// leads to its file: <proc>/<pid>/ns/mnt, <proc>/<pid>/fd/<n>, or below dir a
// bind mount of it. Anything else there is not opened and asked nothing that
// its file system would have to answer; to walk a path that is no link of
// procfs can hang nevertheless.
func OpenMountNS(proc string, dir *os.File, path string, inode uint64) (*os.File, error) {
	walk := func() (*os.File, error) { return open(path, unix.O_PATH) }
	if dir != nil {
		walk = func() (*os.File, error) { return OpenPath(dir, path, InRoot|NoMagicLinks) }
	}
	reference, err := walk()
	if err != nil {
		return nil, err
	}
	defer reference.Close()
	// There is one nsfs in a kernel.
	const flags = unix.AT_STATX_DONT_SYNC | unix.AT_NO_AUTOMOUNT
	var own, st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, proc+"/self/ns/mnt", flags, unix.STATX_INO, &own); err != nil {
		return nil, &os.PathError{Op: "statx", Path: proc + "/self/ns/mnt", Err: err}
	}
	if err := unix.Statx(int(reference.Fd()), "", flags|unix.AT_EMPTY_PATH, unix.STATX_INO, &st); err != nil {
		return nil, &os.PathError{Op: "statx", Path: path, Err: err}
	}
	if st.Dev_major != own.Dev_major || st.Dev_minor != own.Dev_minor || st.Ino != inode {
		return nil, &os.PathError{Op: "open", Path: path, Err: errNotNS}
	}
	return open(proc+"/self/fd/"+strconv.Itoa(int(reference.Fd())), unix.O_RDONLY)
}
