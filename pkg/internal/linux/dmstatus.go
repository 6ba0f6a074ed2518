package linux

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

// struct dm_ioctl of linux/dm-ioctl.h, as far as it is used.
const (
	dmSize      = 312
	dmDataSize  = 12
	dmOpenCount = 24
	dmDevice    = 40

	dmDevStatus = 0xc138fd07 // DM_DEV_STATUS, _IOWR(0xfd, 7, struct dm_ioctl)
)

// DMOpenCount returns how often the device of the device mapper with the number
// is open: a mounted file system counts once, each device built on it once, each
// open file of its node once. It asks by <dev>/mapper/control, which root may
// open (CAP_SYS_ADMIN). Neither the device nor its node is touched. A number
// that is no device of the device mapper fails with ENXIO. Source: Linux 6.18
// drivers/md/dm-ioctl.c dev_status.
func DMOpenCount(dev string, major, minor uint32) (int, error) {
	f, err := os.OpenFile(filepath.Join(dev, "mapper", "control"), os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	request := encodeDM(major, minor)
	for {
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), dmDevStatus, uintptr(unsafe.Pointer(&request[0])))
		switch {
		case errno == 0:
			return int(int32(binary.NativeEndian.Uint32(request[dmOpenCount:]))), nil
		case errors.Is(errno, unix.EINTR):
			continue
		default:
			return 0, &os.PathError{Op: "ioctl DM_DEV_STATUS", Path: f.Name(), Err: errno}
		}
	}
}

// encodeDM is a request about one device: version 4.0.0, and the number as the
// kernel's huge_encode_dev writes it.
func encodeDM(major, minor uint32) []byte {
	request := make([]byte, dmSize)
	binary.NativeEndian.PutUint32(request, 4)
	binary.NativeEndian.PutUint32(request[dmDataSize:], dmSize)
	number := uint64(minor&0xff) | uint64(major)<<8 | uint64(minor&^0xff)<<12
	binary.NativeEndian.PutUint64(request[dmDevice:], number)
	return request
}
