package linux

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// MountNamespace returns the inode number of a process's mount namespace, from
// <proc>/<pid>/ns/mnt. pid may be "self". It needs the rights of
// PTRACE_MODE_READ over the process.
func MountNamespace(proc, pid string) (uint64, error) {
	link := proc + "/" + pid + "/ns/mnt"
	text, err := os.Readlink(link)
	if err != nil {
		return 0, err
	}
	return namespaceInode(link, text)
}

// namespaceInode reads the text of a namespace's link.
func namespaceInode(link, text string) (uint64, error) {
	number := strings.TrimSuffix(strings.TrimPrefix(text, "mnt:["), "]")
	inode, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read %s: %q is not mnt:[INODE]", link, text)
	}
	return inode, nil
}

const nsGetMountNamespaceID = 0x8008b705 // NS_GET_MNTNS_ID, linux/nsfs.h

// NamespaceID returns the number by which statmount(2) knows the mount
// namespace of a process. It needs the rights of PTRACE_MODE_READ. Requires at
// least Linux 6.11 (NS_GET_MNTNS_ID).
func NamespaceID(proc string, pid int) (uint64, error) {
	f, err := open(fmt.Sprintf("%s/%d/ns/mnt", proc, pid), unix.O_RDONLY)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var id uint64
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), nsGetMountNamespaceID, uintptr(unsafe.Pointer(&id)))
	if errno == 0 {
		return id, nil
	}
	err = errno
	if errors.Is(err, unix.ENOTTY) {
		err = &NotSupportedError{"NS_GET_MNTNS_ID", "6.11", errno}
	}
	return 0, &os.PathError{Op: "ioctl NS_GET_MNTNS_ID", Path: f.Name(), Err: err}
}
