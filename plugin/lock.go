package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// lock is the right to decide on this node: a lock on a file in the runtime
// directory, which the kernel takes back when the process ends, however it
// ends.
type lock struct {
	mu   sync.Mutex
	held *os.File
}

// errHeld is a lock that another process has.
var errHeld = errors.New("another mountward decides on this node")

// take takes the lock unless another process has it, which errHeld says. It
// waits for nothing. Any other error says that nobody can have it.
func (l *lock) take(dir string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held != nil {
		return nil
	}
	path := filepath.Join(dir, "lock")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("lock %s: %w", path, err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return fmt.Errorf("lock %s: %w", path, err)
	}
	if err := lockNow(f); err != nil {
		holder := holderOf(f)
		_ = f.Close() // nothing was written
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return fmt.Errorf("%w: %s holds %s", errHeld, holder, path)
		}
		return fmt.Errorf("lock %s: %w", path, err)
	}
	l.held = f
	// For people; the lock does not need it.
	if err := f.Truncate(0); err == nil {
		_, _ = fmt.Fprintln(f, os.Getpid())
	}
	return nil
}

// holderOf names who wrote the file last.
func holderOf(f *os.File) string {
	text, err := io.ReadAll(io.LimitReader(f, 32))
	pid, numErr := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || numErr != nil || pid <= 0 {
		return "another process"
	}
	return fmt.Sprintf("process %d", pid)
}

// release gives the lock back, at the end.
func (l *lock) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held != nil {
		_ = l.held.Close()
		l.held = nil
	}
}
