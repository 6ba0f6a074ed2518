package linux

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

const handleFID = 0x200 // AT_HANDLE_FID, linux/fcntl.h

// FileHandle returns the handle by which a file system tells an open file from
// all others that it has or had; the file may be open for reference only. It
// can be compared, not opened. Requires at least Linux 6.5 (AT_HANDLE_FID), of
// an overlay 6.6, and a file system that has handles: else the error matches
// ErrNotSupported. It can hang as long as a file system does not answer.
func FileHandle(f *os.File) (kind int32, handle []byte, err error) {
	h, _, err := unix.NameToHandleAt(int(f.Fd()), "", unix.AT_EMPTY_PATH|handleFID)
	for _, none := range []error{unix.EOPNOTSUPP, unix.EINVAL, unix.ENOSYS, unix.EPERM} {
		if errors.Is(err, none) {
			err = &NotSupportedError{"name_to_handle_at of this file system", "6.6", err}
			break
		}
	}
	if err != nil {
		return 0, nil, &os.PathError{Op: "name_to_handle_at", Path: f.Name(), Err: err}
	}
	return h.Type(), h.Bytes(), nil
}
