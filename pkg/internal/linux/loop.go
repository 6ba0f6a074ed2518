package linux

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// LoopStatus is what a loop device is bound to: the device number of the file's
// file system (st_dev) and, where the file is a block device, that one's.
type LoopStatus struct {
	Major, Minor           uint32
	BlockMajor, BlockMinor uint32
}

// LoopStatusOf asks the loop device <dev>/<name>, "loop3", what it is bound to
// (LOOP_GET_STATUS64). The device node has to be readable; no capability is
// needed. One that is not bound fails with ENXIO. The kernel asks the file
// system of the file for its attributes, so this can hang for as long as that
// does not answer.
func LoopStatusOf(dev, name string) (LoopStatus, error) {
	path := filepath.Join(dev, name)
	f, err := open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW)
	if err != nil {
		return LoopStatus{}, err
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return LoopStatus{}, &os.PathError{Op: "fstat", Path: path, Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFBLK {
		return LoopStatus{}, fmt.Errorf("ask loop device %s: it is not a block device", path)
	}
	var info *unix.LoopInfo64
	for {
		info, err = unix.IoctlLoopGetStatus64(int(f.Fd()))
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return LoopStatus{}, &os.PathError{Op: "ioctl LOOP_GET_STATUS64", Path: path, Err: err}
		}
		break
	}
	// A directory of device nodes can be anybody's.
	if name != "loop"+strconv.FormatUint(uint64(info.Number), 10) {
		return LoopStatus{}, fmt.Errorf("ask loop device %s: it is number %d", path, info.Number)
	}
	return LoopStatus{
		Major: unix.Major(info.Device), Minor: unix.Minor(info.Device),
		BlockMajor: unix.Major(info.Rdevice), BlockMinor: unix.Minor(info.Rdevice),
	}, nil
}
