package linux

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Mount is what statmount(2) tells of one mount. Strings are the kernel's
// bytes, not escaped and not necessarily UTF-8.
type Mount struct {
	ID, Parent         uint64 // unique, never used again
	InfoID, InfoParent int    // as in mountinfo
	Major, Minor       uint32 // of the superblock
	Shared, Unbindable bool
	PeerGroup, Master  uint64 // 0 for none
	Root, MountPoint   string
	FSType, FSSubtype  string
	Source             string
	Has                MountMask // what the kernel answered
}

// MountMask says which parts of a Mount are known.
type MountMask uint64

// The parts of a Mount; bits of linux/mount.h. HasSubtype and HasSource need
// Linux 6.13, and an empty string is never answered.
const (
	HasSuperblock MountMask = 1 << 0 // Major, Minor
	HasMount      MountMask = 1 << 1 // ids and propagation
	HasRoot       MountMask = 1 << 3
	HasMountPoint MountMask = 1 << 4 // missing for a mount outside the root
	HasFSType     MountMask = 1 << 5
	HasSubtype    MountMask = 1 << 8
	HasSource     MountMask = 1 << 9

	wanted = HasSuperblock | HasMount | HasRoot | HasMountPoint | HasFSType | HasSubtype | HasSource
)

// mountRequest is struct mnt_id_req of linux/mount.h. The first version (Linux
// 6.8) ends before namespace, the second (6.11) after it.
type mountRequest struct {
	size, spare         uint32
	id, mask, namespace uint64
}

// Offsets in struct statmount of linux/mount.h, whose fixed part is 512 bytes
// since 6.8; strings follow it and are named by their offset from its end.
const (
	smMask, smMajor, smMinor, smFSType            = 8, 16, 20, 36
	smID, smParent, smInfoID, smInfoParent        = 40, 48, 56, 60
	smPropagation, smPeerGroup, smMaster          = 72, 80, 88
	smRoot, smMountPoint, smFSSubtype, smSBSource = 104, 108, 120, 124
	smStrings                                     = 512
)

// Statmount describes the mount with the unique id. namespace is 0 for the
// mount namespace of the caller, where a mount of another one gives ENOENT; or
// the id that NamespaceID returns, which requires at least Linux 6.11 and
// CAP_SYS_ADMIN there. Requires at least Linux 6.8.
func Statmount(id, namespace uint64) (Mount, error) {
	request := mountRequest{size: 24, id: id, mask: uint64(wanted), namespace: namespace}
	if namespace != 0 {
		request.size = 32
	}
	const most = 1 << 20 // strings of a mount are some pages at most
	var room [2048]byte
	for buf := room[:]; ; {
		_, _, errno := unix.Syscall6(unix.SYS_STATMOUNT, uintptr(unsafe.Pointer(&request)),
			uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)), 0, 0, 0)
		var err error = errno
		switch {
		case errno == 0:
			m, err := decodeMount(buf)
			if err != nil {
				return Mount{}, fmt.Errorf("statmount %d: %w", id, err)
			}
			return m, nil
		case errno == unix.EINTR:
			continue
		case errno == unix.EOVERFLOW && len(buf) < most:
			buf = make([]byte, 4*len(buf))
			continue
		case errno == unix.ENOSYS:
			err = &NotSupportedError{"statmount", "6.8", errno}
		case errno == unix.EINVAL && namespace != 0:
			err = &NotSupportedError{"statmount of another namespace", "6.11", errno}
		}
		return Mount{}, fmt.Errorf("statmount %d: %w", id, os.NewSyscallError("statmount", err))
	}
}

var errShort = errors.New("answer does not fit its own offsets")

func decodeMount(buf []byte) (Mount, error) {
	if len(buf) < smStrings {
		return Mount{}, errShort
	}
	u32 := func(at int) uint32 { return binary.NativeEndian.Uint32(buf[at:]) }
	u64 := func(at int) uint64 { return binary.NativeEndian.Uint64(buf[at:]) }
	m := Mount{Has: MountMask(u64(smMask))}
	if m.Has&HasSuperblock != 0 {
		m.Major, m.Minor = u32(smMajor), u32(smMinor)
	}
	if m.Has&HasMount != 0 {
		m.ID, m.Parent = u64(smID), u64(smParent)
		m.InfoID, m.InfoParent = int(u32(smInfoID)), int(u32(smInfoParent))
		flags := u64(smPropagation)
		m.Shared, m.Unbindable = flags&unix.MS_SHARED != 0, flags&unix.MS_UNBINDABLE != 0
		m.PeerGroup, m.Master = u64(smPeerGroup), u64(smMaster)
	}
	for _, s := range []struct {
		has MountMask
		at  int
		to  *string
	}{
		{HasRoot, smRoot, &m.Root},
		{HasMountPoint, smMountPoint, &m.MountPoint},
		{HasFSType, smFSType, &m.FSType},
		{HasSubtype, smFSSubtype, &m.FSSubtype},
		{HasSource, smSBSource, &m.Source},
	} {
		if m.Has&s.has == 0 {
			continue
		}
		start := uint64(smStrings) + uint64(u32(s.at))
		if start >= uint64(len(buf)) {
			return Mount{}, errShort
		}
		end := bytes.IndexByte(buf[start:], 0)
		if end < 0 {
			return Mount{}, errShort
		}
		*s.to = string(buf[start : start+uint64(end)])
	}
	return m, nil
}
