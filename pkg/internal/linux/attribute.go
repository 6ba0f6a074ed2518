package linux

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// ReadAttribute reads the attribute of sysfs with the name below an open
// directory, which may be open for reference only, or with the path where dir
// is nil. An attribute is a page at most; more of a longer file is not read. It
// is os.ReadFile with half of the system calls.
func ReadAttribute(dir *os.File, name string) (string, error) {
	fd, err := openAt(dir, name, unix.O_RDONLY)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	var page [4096]byte
	for {
		n, err := unix.Read(fd, page[:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return "", &os.PathError{Op: "read", Path: name, Err: err}
		}
		return string(page[:n]), nil
	}
}

// OpenDirectory opens for reading the directory with the name below an open
// one, which may be open for reference only.
func OpenDirectory(dir *os.File, name string) (*os.File, error) {
	fd, err := openAt(dir, name, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), dir.Name()+"/"+name), nil
}

func openAt(dir *os.File, name string, flags int) (int, error) {
	at, path := unix.AT_FDCWD, name
	if dir != nil {
		at, path = int(dir.Fd()), dir.Name()+"/"+name
	}
	for {
		fd, err := unix.Openat(at, name, flags|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return -1, &os.PathError{Op: "open", Path: path, Err: err}
		}
		return fd, nil
	}
}
