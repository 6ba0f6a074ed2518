package control

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/mountward/mountward/pkg/internal/linux"
)

// Lock is the right to decide on this node: a lock on a file in the runtime
// directory, which the kernel takes back when the process ends, however it
// ends. The zero value is not held.
type Lock struct {
	mu   sync.Mutex
	held *os.File
}

// ErrHeld matches the error of Take where another process has the lock.
var ErrHeld = errors.New("another mountward decides on this node")

// Take takes the lock unless another process has it, which ErrHeld says. It
// waits for nothing. Any other error says that nobody can have it.
func (l *Lock) Take(dir string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held != nil {
		return nil
	}
	err := prepare(dir)
	path := filepath.Join(dir, "lock")
	if err == nil {
		l.held, err = openLocked(path)
	}
	if err != nil && !errors.Is(err, ErrHeld) {
		err = fmt.Errorf("lock %s: %w", path, err)
	}
	return err
}

// openLocked opens the file with its lock.
func openLocked(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		// For people, and for who finds it held by one who is dead.
		if err := f.Truncate(0); err == nil {
			_, _ = fmt.Fprintln(f, os.Getpid())
		}
		return f, nil
	}
	defer f.Close() // nothing was written
	if !errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, err
	}
	holder := holderOf(f)
	switch {
	case holder <= 0:
		return nil, fmt.Errorf("%w: another process holds %s", ErrHeld, path)
	case !linux.Ending("/proc", holder):
		return nil, fmt.Errorf("%w: process %d holds %s", ErrHeld, holder, path)
	}
	// A thread of it hangs in the kernel and keeps the lock of this file, perhaps
	// for ever; the lock of another file is ours.
	if err := removeOpen(path, f); err != nil {
		return nil, err
	}
	return openLocked(path)
}

// removeOpen removes the file at path, unless that is another one by now.
func removeOpen(path string, f *os.File) error {
	opened, err := f.Stat()
	if err != nil {
		return err
	}
	now, err := os.Lstat(path)
	if err == nil && os.SameFile(now, opened) {
		err = os.Remove(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// holderOf returns who wrote the file last, 0 where that is not known.
func holderOf(f *os.File) (pid int) {
	text, err := io.ReadAll(io.LimitReader(f, 32))
	if err == nil {
		pid, _ = strconv.Atoi(strings.TrimSpace(string(text))) // 0 where it is no number
	}
	return pid
}

// Release gives the lock back, at the end.
func (l *Lock) Release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held != nil {
		_ = l.held.Close()
		l.held = nil
	}
}
