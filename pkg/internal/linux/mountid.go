package linux

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// UniqueMountID returns the id of the mount an open file is on, which is never
// used again. Requires at least Linux 6.8 (STATX_MNT_ID_UNIQUE).
func UniqueMountID(f *os.File) (uint64, error) {
	return mountID(f, unix.STATX_MNT_ID_UNIQUE, "6.8")
}

// MountID returns the id that mountinfo shows for the mount an open file is
// on. It is used again after an unmount. Requires at least Linux 5.8
// (STATX_MNT_ID).
func MountID(f *os.File) (int, error) {
	id, err := mountID(f, unix.STATX_MNT_ID, "5.8")
	return int(id), err
}

// NotDirectory reports that an open file is known to be no directory. It asks
// as mountID does: what the kernel cannot say without the file system is not
// known.
func NotDirectory(f *os.File) bool {
	const flags = unix.AT_EMPTY_PATH | unix.AT_STATX_DONT_SYNC | unix.AT_NO_AUTOMOUNT
	var st unix.Statx_t
	err := unix.Statx(int(f.Fd()), "", flags, 0, &st)
	return err == nil && st.Mask&unix.STATX_TYPE != 0 && st.Mode&unix.S_IFMT != unix.S_IFDIR
}

// mountID asks for nothing but the mount id and with AT_STATX_DONT_SYNC: so
// asked, no file system has to be heard. Any further bit of the mask would be
// refused on a FUSE mount of another user and could wait for its server.
func mountID(f *os.File, mask int, since string) (uint64, error) {
	const flags = unix.AT_EMPTY_PATH | unix.AT_STATX_DONT_SYNC | unix.AT_NO_AUTOMOUNT
	var st unix.Statx_t
	for {
		err := unix.Statx(int(f.Fd()), "", flags, mask, &st)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ENOSYS):
			err = &NotSupportedError{"statx", "4.11", err}
		case err == nil && st.Mask&uint32(mask) == 0:
			err = &NotSupportedError{"statx mount id", since, unix.ENODATA}
		}
		if err != nil {
			return 0, &os.PathError{Op: "statx", Path: f.Name(), Err: err}
		}
		return st.Mnt_id, nil
	}
}
