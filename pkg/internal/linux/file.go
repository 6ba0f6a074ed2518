package linux

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// ReadRegular reads a regular file that is open for reference only: it is
// opened once more, by its link in <proc>/self/fd. Any other kind of file is an
// error and is not opened, since opening a FIFO or a device can do more than
// opening. Of a file of more than limit bytes nothing is returned but an error.
// All of this can hang as long as the file system does not answer.
func ReadRegular(proc string, f *os.File, limit int) ([]byte, error) {
	st, err := fstat(f)
	if err != nil {
		return nil, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, &os.PathError{Op: "read", Path: f.Name(), Err: errors.New("not a regular file")}
	}
	if st.Size > int64(limit) {
		return nil, tooLarge(f, limit)
	}
	// O_NONBLOCK: a file with a lease is refused, not waited for.
	link := proc + "/self/fd/" + strconv.Itoa(int(f.Fd()))
	fd, err := openAt(nil, link, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	// One byte more than the size shows the end of a file that has not grown.
	text := make([]byte, 0, int(st.Size)+1)
	for {
		n, err := unix.Read(fd, text[len(text):cap(text)])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, &os.PathError{Op: "read", Path: f.Name(), Err: err}
		}
		text = text[:len(text)+n]
		switch {
		case len(text) > limit:
			return nil, tooLarge(f, limit)
		case n == 0:
			return text, nil
		case len(text) == cap(text):
			text = slices.Grow(text, min(limit+1-len(text), len(text)+512))
		}
	}
}

func fstat(f *os.File) (st unix.Stat_t, err error) {
	for {
		err := unix.Fstat(int(f.Fd()), &st)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return st, &os.PathError{Op: "fstat", Path: f.Name(), Err: err}
		}
		return st, nil
	}
}

func tooLarge(f *os.File, limit int) error {
	return &os.PathError{Op: "read", Path: f.Name(), Err: fmt.Errorf("larger than %d bytes", limit)}
}

// ReadNames returns the names in a directory, which may be open for reference
// only, in the order of the file system. More than limit are an error.
func ReadNames(dir *os.File, limit int) ([]string, error) {
	d, err := OpenDirectory(dir, ".")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(limit + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(names) > limit {
		return nil, &os.PathError{Op: "read", Path: dir.Name(), Err: fmt.Errorf("more than %d entries", limit)}
	}
	return names, nil
}

// BlockDevice returns the device number of a block device node, which may be
// open for reference only; any other file is an error.
func BlockDevice(f *os.File) (major, minor uint32, err error) {
	st, err := fstat(f)
	if err != nil {
		return 0, 0, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFBLK {
		return 0, 0, &os.PathError{Op: "stat", Path: f.Name(), Err: errors.New("not a block device")}
	}
	return unix.Major(st.Rdev), unix.Minor(st.Rdev), nil
}

// StatDevice returns st_dev of what os.Stat told of a file.
func StatDevice(info os.FileInfo) (major, minor uint32, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return unix.Major(st.Dev), unix.Minor(st.Dev), true
}
