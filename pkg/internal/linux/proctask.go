package linux

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ProcTask is the directory of a process or a thread in procfs, held open: all
// that is read of it is of one task. When that is gone, Gone reports the error.
type ProcTask struct {
	dir  int
	path string
}

// OpenProcTask opens <proc>/<task>; task is a number, or "1/task/2".
func OpenProcTask(proc, task string) (*ProcTask, error) {
	path := proc + "/" + task
	fd, err := openAt(nil, path, unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	return &ProcTask{fd, path}, nil
}

// Close gives the descriptor back.
func (t *ProcTask) Close() error { return unix.Close(t.dir) }

// Link returns where a link in the directory leads, "ns/mnt", without going
// there.
func (t *ProcTask) Link(name string) (string, error) { return t.link(t.dir, name) }

func (t *ProcTask) link(dir int, name string) (string, error) {
	for size := 128; ; size *= 4 {
		buf := make([]byte, size)
		n, err := unix.Readlinkat(dir, name, buf)
		for errors.Is(err, unix.EINTR) {
			n, err = unix.Readlinkat(dir, name, buf)
		}
		if err != nil {
			return "", &os.PathError{Op: "readlink", Path: t.path + "/" + name, Err: err}
		}
		if n < size {
			return string(buf[:n]), nil
		}
	}
}

// Namespace returns the inode number that a link such as "ns/mnt" names.
func (t *ProcTask) Namespace(name string) (uint64, error) {
	text, err := t.Link(name)
	if err != nil {
		return 0, err
	}
	_, number, _ := strings.Cut(text, ":[")
	inode, err := strconv.ParseUint(strings.TrimSuffix(number, "]"), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read %s/%s: %q is not TYPE:[INODE]", t.path, name, text)
	}
	return inode, nil
}

// Read returns a file in the directory, up to limit bytes of it.
func (t *ProcTask) Read(name string, limit int) ([]byte, error) {
	fd, err := t.open(name, unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	buf := make([]byte, min(limit, 4<<10))
	for got := 0; ; {
		n, err := unix.Read(fd, buf[got:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, &os.PathError{Op: "read", Path: t.path + "/" + name, Err: err}
		}
		got += n
		if n == 0 || got == limit {
			return buf[:got], nil
		}
		if got == len(buf) {
			buf = append(buf, make([]byte, min(len(buf), limit-len(buf)))...)
		}
	}
}

// Open opens a file in the directory that is too large for Read. An open
// mountinfo stays with the mount namespace that the task had then.
func (t *ProcTask) Open(name string) (io.ReadCloser, error) {
	fd, err := t.open(name, unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	return &taskFile{fd, t.path + "/" + name}, nil
}

// taskFile is an open file. An os.File takes more system calls than the reading.
type taskFile struct {
	fd   int
	path string
}

// Read reads on.
func (f *taskFile) Read(p []byte) (int, error) {
	for {
		n, err := unix.Read(f.fd, p)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 0, &os.PathError{Op: "read", Path: f.path, Err: err}
		case n == 0 && len(p) > 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

// Close gives the descriptor back.
func (f *taskFile) Close() error { return unix.Close(f.fd) }

// Names returns the names in a directory below. More than limit are an error.
func (t *ProcTask) Names(name string, limit int) ([]string, error) {
	fd, err := t.open(name, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	var names []string
	var buf [8 << 10]byte
	for {
		n, err := unix.Getdents(fd, buf[:])
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return nil, &os.PathError{Op: "readdir", Path: t.path + "/" + name, Err: err}
		case n == 0:
			return names, nil
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names)
		if len(names) > limit {
			return nil, &os.PathError{Op: "read", Path: t.path + "/" + name, Err: fmt.Errorf("more than %d entries", limit)}
		}
	}
}

// Descriptors calls found with the number and the link of each descriptor of
// the process whose link begins with prefix. It asks no file system. It needs
// the rights of PTRACE_MODE_READ.
func (t *ProcTask) Descriptors(prefix string, limit int, found func(fd int, link string)) error {
	names, err := t.Names("fd", limit)
	if err != nil {
		return err
	}
	dir, err := t.open("fd", unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	// What is cut off cannot begin with what is looked for: links of
	// namespaces are short.
	var buf [64]byte
	for _, name := range names {
		n, err := unix.Readlinkat(dir, name, buf[:])
		if errors.Is(err, unix.ENOENT) {
			continue // closed meanwhile
		}
		if err != nil {
			// To list them takes less than to read one.
			return &os.PathError{Op: "readlink", Path: t.path + "/fd/" + name, Err: err}
		}
		if n == len(buf) || !strings.HasPrefix(string(buf[:n]), prefix) {
			continue
		}
		if fd, err := strconv.Atoi(name); err == nil {
			found(fd, string(buf[:n]))
		}
	}
	return nil
}

func (t *ProcTask) open(name string, flags int) (int, error) {
	for {
		fd, err := unix.Openat(t.dir, name, flags|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return -1, &os.PathError{Op: "open", Path: t.path + "/" + name, Err: err}
		}
		return fd, nil
	}
}

// Gone reports the error of a process, a mount or a namespace that was there a
// moment ago.
func Gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) || errors.Is(err, errNotNS)
}
