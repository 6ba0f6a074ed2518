package hostview

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/mountward/mountward/pkg/internal/linux"
)

// walker opens paths without waiting for a file system for longer than wait.
type walker struct {
	root *os.File // what paths are relative to; nil is our own root
	how  linux.Walk
	wait time.Duration
	most int // helpers of the crew beyond which it asks for no more
	// key is any number that tells living mounts apart, and typeOf what is
	// known of the type of the mount that has it.
	key    func(*os.File) (uint64, error)
	typeOf func(mount uint64) mountType
	*crew
}

func newWalker(root *os.File, how linux.Walk, wait time.Duration) *walker {
	return &walker{
		root: root, how: how, wait: wait, most: maxHelpers, crew: &crew{},
		key: mountKey, typeOf: func(uint64) mountType { return mountType{} },
	}
}

// open opens a path for reference only. straight reports that no symbolic link
// was met on the way, so that the cleaned path is the canonical one.
func (w *walker) open(ctx context.Context, path string) (f *os.File, straight bool, err error) {
	f, straight, err = w.cached(path)
	if err == nil || !mayWait(err) {
		return f, straight, err
	}
	h, err := w.begin()
	if err != nil {
		return nil, false, err
	}
	r := w.await(ctx, h, func() outcome {
		f, err := w.walk(h, path)
		return outcome{f, err}
	})
	if r.err != nil {
		return nil, false, r.err
	}
	return r.value.(*os.File), false, nil
}

// cached opens a path if nothing has to be waited for. A mount or a rename
// anywhere at this very moment makes the kernel say so too, which is why it is
// tried again: with somebody mounting all the time, 16 in 1,000 first tries
// fail, 7 in 10,000 of two and 1 in 100,000 of three (Linux 6.18, 2 processors).
func (w *walker) cached(path string) (f *os.File, straight bool, err error) {
	for range 3 {
		f, err = linux.OpenPath(w.root, path, w.how|linux.NoLinks|linux.Cached)
		straight = !errors.Is(err, syscall.ELOOP)
		if !straight {
			f, err = linux.OpenPath(w.root, path, w.how|linux.Cached)
		}
		if !errors.Is(err, linux.ErrNotCached) {
			break
		}
	}
	return f, straight, err
}

// await lets a helper work, and leaves it behind when that takes too long.
func (w *walker) await(ctx context.Context, h *helper, work func() outcome) outcome {
	go func() { w.finish(h, work()) }()
	timer := time.NewTimer(w.wait)
	defer timer.Stop()
	var err error
	select {
	case r := <-h.result:
		return r
	case <-timer.C:
		err = fmt.Errorf("its file system had to be asked and did not answer in %v", w.wait)
	case <-ctx.Done():
		err = fmt.Errorf("its file system had to be asked and did not answer: %w", ctx.Err())
	}
	if r, ok := w.abandon(h); ok {
		return r
	}
	return outcome{err: err}
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

// closeReference closes what was opened for reference only, if anything:
// nothing can be lost.
func closeReference(f *os.File) {
	if f != nil {
		_ = f.Close()
	}
}

func (w *walker) close() error {
	if w.root == nil {
		return nil
	}
	return w.root.Close()
}
