package linux

import (
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	listRoot  = ^uint64(0) // LSMT_ROOT: the root of the namespace
	maxMounts = 1 << 20
)

// listRequest is struct mnt_id_req as listmount(2) takes it: with the last id
// of the answer before.
type listRequest struct {
	size, spare         uint32
	id, last, namespace uint64
}

// ListMounts returns the unique ids of the mounts of a mount namespace below
// its root, in the order of mountinfo. namespace is a MountNS.ID. Requires at
// least Linux 6.11, and CAP_SYS_ADMIN there.
func ListMounts(namespace uint64) ([]uint64, error) {
	request := listRequest{size: 32, id: listRoot, namespace: namespace}
	var all []uint64
	var ids [512]uint64
	for len(all) <= maxMounts {
		n, _, errno := unix.Syscall6(unix.SYS_LISTMOUNT, uintptr(unsafe.Pointer(&request)),
			uintptr(unsafe.Pointer(&ids[0])), uintptr(len(ids)), 0, 0, 0)
		var err error = errno
		switch {
		case errno == 0 && n < uintptr(len(ids)):
			return append(all, ids[:n]...), nil
		case errno == 0:
			all = append(all, ids[:n]...)
			request.last = ids[n-1]
			continue
		case errno == unix.EINTR:
			continue
		case errno == unix.ENOSYS || errno == unix.EINVAL:
			err = &NotSupportedError{"listmount of another namespace", "6.11", errno}
		}
		return nil, fmt.Errorf("list mounts of namespace %d: %w", namespace, os.NewSyscallError("listmount", err))
	}
	return nil, fmt.Errorf("list mounts of namespace %d: more than %d", namespace, maxMounts)
}

// MountOptions are those of a mount and of its superblock, as mountinfo has
// them in its sixth and in its last field.
type MountOptions struct{ Mount, Super string }

// HasOptions says that statmount(2) answered those of the file system, which
// are told where there are any. Requires at least Linux 6.11.
const HasOptions MountMask = 1 << 7

// Offsets in struct statmount, as in statmount.go.
const smOptions, smSuperFlags, smAttributes = 4, 32, 64

// StatmountOptions is Statmount, and tells the options as well.
func StatmountOptions(id, namespace uint64) (Mount, MountOptions, error) {
	request := mountRequest{size: 32, id: id, mask: uint64(wanted | HasOptions), namespace: namespace}
	for buf := make([]byte, 8<<10); ; {
		_, _, errno := unix.Syscall6(unix.SYS_STATMOUNT, uintptr(unsafe.Pointer(&request)),
			uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)), 0, 0, 0)
		var err error = errno
		switch {
		case errno == 0:
			m, err := decodeMount(buf)
			if err != nil {
				return Mount{}, MountOptions{}, fmt.Errorf("statmount %d: %w", id, err)
			}
			o, err := decodeOptions(buf, m.Has)
			if err != nil {
				return Mount{}, MountOptions{}, fmt.Errorf("statmount %d: %w", id, err)
			}
			return m, o, nil
		case errno == unix.EINTR:
			continue
		case errno == unix.EOVERFLOW && len(buf) < 1<<20:
			buf = make([]byte, 4*len(buf))
			continue
		case errno == unix.ENOSYS || errno == unix.EINVAL:
			err = &NotSupportedError{"statmount of another namespace", "6.11", errno}
		}
		return Mount{}, MountOptions{}, fmt.Errorf("statmount %d: %w", id, os.NewSyscallError("statmount", err))
	}
}

func decodeOptions(buf []byte, has MountMask) (MountOptions, error) {
	if len(buf) < smStrings {
		return MountOptions{}, errShort
	}
	super := superOptions(binary.NativeEndian.Uint32(buf[smSuperFlags:]))
	if has&HasOptions != 0 {
		start := uint64(smStrings) + uint64(binary.NativeEndian.Uint32(buf[smOptions:]))
		if start >= uint64(len(buf)) {
			return MountOptions{}, errShort
		}
		text, _, ok := strings.Cut(string(buf[start:]), "\x00")
		if !ok {
			return MountOptions{}, errShort
		}
		super += "," + text
	}
	return MountOptions{mountOptions(binary.NativeEndian.Uint64(buf[smAttributes:])), super}, nil
}

// mountOptions names the attributes in the order of show_mnt_opts() in the
// kernel's fs/proc_namespace.c.
func mountOptions(attributes uint64) string {
	words := []string{"rw"}
	if attributes&unix.MOUNT_ATTR_RDONLY != 0 {
		words[0] = "ro"
	}
	for _, a := range []struct {
		mask, is uint64
		name     string
	}{
		{unix.MOUNT_ATTR_NOSUID, unix.MOUNT_ATTR_NOSUID, "nosuid"},
		{unix.MOUNT_ATTR_NODEV, unix.MOUNT_ATTR_NODEV, "nodev"},
		{unix.MOUNT_ATTR_NOEXEC, unix.MOUNT_ATTR_NOEXEC, "noexec"},
		{unix.MOUNT_ATTR__ATIME, unix.MOUNT_ATTR_NOATIME, "noatime"},
		{unix.MOUNT_ATTR_NODIRATIME, unix.MOUNT_ATTR_NODIRATIME, "nodiratime"},
		{unix.MOUNT_ATTR__ATIME, unix.MOUNT_ATTR_RELATIME, "relatime"},
		{unix.MOUNT_ATTR_NOSYMFOLLOW, unix.MOUNT_ATTR_NOSYMFOLLOW, "nosymfollow"},
		{unix.MOUNT_ATTR_IDMAP, unix.MOUNT_ATTR_IDMAP, "idmapped"},
	} {
		if attributes&a.mask == a.is {
			words = append(words, a.name)
		}
	}
	return strings.Join(words, ",")
}

// superOptions is show_sb_opts() in the kernel's fs/proc_namespace.c.
func superOptions(flags uint32) string {
	words := []string{"rw"}
	if flags&unix.MS_RDONLY != 0 {
		words[0] = "ro"
	}
	for _, f := range []struct {
		is   uint32
		name string
	}{
		{unix.MS_SYNCHRONOUS, "sync"}, {unix.MS_DIRSYNC, "dirsync"}, {unix.MS_LAZYTIME, "lazytime"},
	} {
		if flags&f.is != 0 {
			words = append(words, f.name)
		}
	}
	return strings.Join(words, ",")
}
