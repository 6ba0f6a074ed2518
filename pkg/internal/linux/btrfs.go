package linux

import (
	"encoding/binary"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// BtrfsInfo is what a btrfs file system tells of itself.
type BtrfsInfo struct {
	FSID    string // as in /sys/fs/btrfs
	Devices int
}

const (
	btrfsFSInfo     = 0x8400941f // BTRFS_IOC_FS_INFO, linux/btrfs.h
	btrfsFSInfoSize = 1024
)

// Btrfs asks the file system that a directory is on (BTRFS_IOC_FS_INFO). The
// directory may have been opened for reference only: it is opened once more for
// reading, since no ioctl works on such a descriptor. That takes the right to
// read the directory, and where it is not its owner's, root without
// CAP_DAC_READ_SEARCH does not have it. Any other file system fails with
// ENOTTY. A file is refused with ENOTDIR, since opening it can do more than
// opening: take a directory of the same file system.
func Btrfs(dir *os.File) (BtrfsInfo, error) {
	f, err := OpenDirectory(dir, ".")
	if err != nil {
		return BtrfsInfo{}, err
	}
	defer f.Close()
	var b [btrfsFSInfoSize]byte
	for {
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), btrfsFSInfo, uintptr(unsafe.Pointer(&b[0])))
		if errno == unix.EINTR {
			continue
		}
		if errno == 0 {
			return decodeBtrfs(b[:]), nil
		}
		return BtrfsInfo{}, &os.PathError{Op: "ioctl BTRFS_IOC_FS_INFO", Path: dir.Name(), Err: errno}
	}
}

// decodeBtrfs reads struct btrfs_ioctl_fs_info_args: max_id, num_devices, fsid.
func decodeBtrfs(b []byte) BtrfsInfo {
	id := b[16:32]
	return BtrfsInfo{
		FSID:    fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:]),
		Devices: int(binary.NativeEndian.Uint64(b[8:])),
	}
}
