package linux

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// MagicStat is what is known of a file without its file system.
type MagicStat struct {
	Major, Minor           uint32 // st_dev
	Block                  bool   // it is a block device node
	BlockMajor, BlockMinor uint32 // of it
	MountID                int    // as in mountinfo
	Directory              bool
}

// StatMagic looks at what a link of procfs such as /proc/<pid>/fd/7 leads to.
// Nothing is opened, so no mount becomes busy by it, and nothing asked of the
// file system but what the kernel has in memory (AT_STATX_DONT_SYNC and no more
// than the mount id): a FUSE server that is dead or another user's does not
// matter (measured on Linux 6.18). NFS checks what it is asked about by such a
// link with its server even so, so this can hang. It needs the rights of
// PTRACE_MODE_READ. Requires at least Linux 5.8 (STATX_MNT_ID).
func StatMagic(path string) (MagicStat, error) {
	const flags = unix.AT_STATX_DONT_SYNC | unix.AT_NO_AUTOMOUNT
	var st unix.Statx_t
	for {
		err := unix.Statx(unix.AT_FDCWD, path, flags, unix.STATX_MNT_ID, &st)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ENOSYS):
			err = &NotSupportedError{"statx", "4.11", err}
		case err == nil && st.Mask&unix.STATX_MNT_ID == 0:
			err = &NotSupportedError{"statx mount id", "5.8", unix.ENODATA}
		}
		if err != nil {
			return MagicStat{}, &os.PathError{Op: "statx", Path: path, Err: err}
		}
		s := MagicStat{Major: st.Dev_major, Minor: st.Dev_minor, MountID: int(st.Mnt_id)}
		if st.Mask&unix.STATX_TYPE == 0 {
			return s, nil
		}
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFDIR:
			s.Directory = true
		case unix.S_IFBLK:
			s.Block, s.BlockMajor, s.BlockMinor = true, st.Rdev_major, st.Rdev_minor
		}
		return s, nil
	}
}
