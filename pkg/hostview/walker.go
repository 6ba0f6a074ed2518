package hostview

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/mountward/mountward/pkg/internal/linux"
)

// maxHelpers bounds the goroutines, and so the threads, that can be stuck in a
// path walk at one time.
const maxHelpers = 16

// walker opens paths without waiting for a file system for longer than wait.
type walker struct {
	root *os.File // what paths are relative to; nil is our own root
	how  linux.Walk
	wait time.Duration

	mu      sync.Mutex
	helpers map[*helper]struct{}
}

// helper is one goroutine that walks a path the kernel has not cached.
type helper struct {
	mount     uint64 // where it may be waiting
	abandoned bool   // nobody waits for it any more: it is stuck
	result    chan opened
}

type opened struct {
	file *os.File
	err  error
}

var (
	errStuck   = errors.New("an earlier path walk is stuck in the same mount")
	errHelpers = fmt.Errorf("the path is not cached and %d path walks are already waiting", maxHelpers)
)

// open opens a path for reference only. straight reports that no symbolic link
// was met on the way, so that the cleaned path is the canonical one.
func (w *walker) open(ctx context.Context, path string) (f *os.File, straight bool, err error) {
	f, err = linux.OpenPath(w.root, path, w.how|linux.NoLinks|linux.Cached)
	if err == nil {
		return f, true, nil
	}
	if errors.Is(err, syscall.ELOOP) {
		f, err = linux.OpenPath(w.root, path, w.how|linux.Cached)
	}
	if err == nil || !mayWait(err) {
		return f, false, err
	}
	f, err = w.slowly(ctx, path)
	return f, false, err
}

// slowly lets a helper walk.
func (w *walker) slowly(ctx context.Context, path string) (*os.File, error) {
	h, err := w.begin()
	if err != nil {
		return nil, err
	}
	go func() {
		f, err := w.walk(h, path)
		w.finish(h, opened{f, err})
	}()
	timer := time.NewTimer(w.wait)
	defer timer.Stop()
	select {
	case r := <-h.result:
		return r.file, r.err
	case <-timer.C:
		err = fmt.Errorf("the path is not cached and its file system did not answer in %v", w.wait)
	case <-ctx.Done():
		err = fmt.Errorf("the path is not cached and its file system did not answer: %w", ctx.Err())
	}
	if r, ok := w.abandon(h); ok {
		return r.file, r.err
	}
	return nil, err
}

// mayWait reports whether a cached walk failed only because it was cached.
func mayWait(err error) bool {
	var old *linux.NotSupportedError
	return errors.Is(err, linux.ErrNotCached) || errors.As(err, &old) && old.Name != "openat2"
}

// top opens the root of the view.
func (w *walker) top() (*os.File, error) {
	return linux.OpenPath(w.root, "/", w.how)
}

func (w *walker) begin() (*helper, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.helpers) >= maxHelpers {
		return nil, errHelpers
	}
	if w.helpers == nil {
		w.helpers = map[*helper]struct{}{}
	}
	h := &helper{result: make(chan opened, 1)}
	w.helpers[h] = struct{}{}
	return h, nil
}

// enter says where the helper is going to wait. A mount in which another one
// is stuck is not asked again.
func (w *walker) enter(h *helper, mount uint64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for other := range w.helpers {
		if other.abandoned && other.mount == mount && other != h {
			return errStuck
		}
	}
	h.mount = mount
	return nil
}

func (w *walker) finish(h *helper, r opened) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.helpers, h)
	if h.abandoned && r.file != nil {
		_ = r.file.Close() // opened for reference only: nothing can be lost
		return
	}
	h.result <- r
}

// abandon marks a helper as stuck, unless it has just come back.
func (w *walker) abandon(h *helper) (opened, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case r := <-h.result:
		return r, true
	default:
		h.abandoned = true
		return opened{}, false
	}
}

func (w *walker) close() error {
	if w.root == nil {
		return nil
	}
	return w.root.Close()
}
