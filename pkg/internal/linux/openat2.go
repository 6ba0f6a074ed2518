package linux

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Walk says how a path is walked.
type Walk uint32

// The ways to walk. Cached (Linux 5.12) fails with ErrNotCached rather than
// wait for any file system. NoMagicLinks, NoLinks and InRoot are those of
// openat2(2). NoFollow opens a trailing symbolic link itself.
const (
	Cached Walk = 1 << iota
	NoMagicLinks
	NoLinks
	InRoot
	NoFollow
)

const resolveCached = 0x20 // RESOLVE_CACHED, linux/openat2.h; not in x/sys

// OpenPath opens path for reference only (O_PATH) below dir, or below the
// working directory where dir is nil. Without Cached it can hang for as long
// as a file system on the way does not answer: O_PATH alone does not help, the
// walk to a child of a dead FUSE or NFS mount waits. Requires at least Linux
// 5.6 (openat2).
func OpenPath(dir *os.File, path string, walk Walk) (*os.File, error) {
	at := unix.AT_FDCWD
	if dir != nil {
		at = int(dir.Fd())
	}
	how := walk.how()
	for {
		fd, err := unix.Openat2(at, path, &how)
		switch {
		case err == nil:
			return os.NewFile(uintptr(fd), path), nil
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ENOSYS):
			err = &NotSupportedError{"openat2", "5.6", err}
		case errors.Is(err, unix.EINVAL) && walk&Cached != 0:
			err = &NotSupportedError{"openat2 RESOLVE_CACHED", "5.12", err}
		}
		return nil, &os.PathError{Op: "openat2", Path: path, Err: err}
	}
}

func (w Walk) how() unix.OpenHow {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC}
	if w&Cached != 0 {
		how.Resolve |= resolveCached
	}
	if w&NoMagicLinks != 0 {
		how.Resolve |= unix.RESOLVE_NO_MAGICLINKS
	}
	if w&NoLinks != 0 {
		how.Resolve |= unix.RESOLVE_NO_SYMLINKS
	}
	if w&InRoot != 0 {
		how.Resolve |= unix.RESOLVE_IN_ROOT
	}
	if w&NoFollow != 0 {
		how.Flags |= unix.O_NOFOLLOW
	}
	return how
}

// OpenMagic opens for reference only what a link of procfs such as
// /proc/<pid>/root or /proc/<pid>/ns/mnt leads to. It needs the rights of
// PTRACE_MODE_READ over that process.
func OpenMagic(path string) (*os.File, error) {
	return open(path, unix.O_PATH)
}

// FDPath returns the path of an open file without symbolic links, as the
// kernel writes it: relative to the root of the caller or, for a file of
// another mount namespace, to the top of that namespace. A file that was
// removed has " (deleted)" appended. It reads <proc>/self/fd and touches no
// other file system.
func FDPath(proc string, f *os.File) (string, error) {
	return os.Readlink(fmt.Sprintf("%s/self/fd/%d", proc, f.Fd()))
}

// ReadLink returns the target of a symbolic link opened with NoFollow, and
// false for any other file, which costs no access to its file system. Reading
// a link can hang like a path walk.
func ReadLink(f *os.File) (string, bool, error) {
	buf := make([]byte, unix.PathMax)
	for {
		n, err := unix.Readlinkat(int(f.Fd()), "", buf)
		switch {
		case err == nil:
			return string(buf[:n]), true, nil
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOTDIR):
			return "", false, nil
		}
		return "", false, &os.PathError{Op: "readlinkat", Path: f.Name(), Err: err}
	}
}

func open(path string, flags int) (*os.File, error) {
	for {
		fd, err := unix.Open(path, flags|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, &os.PathError{Op: "open", Path: path, Err: err}
		}
		return os.NewFile(uintptr(fd), path), nil
	}
}
