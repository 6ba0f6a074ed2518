package hostview

import (
	"context"
	"errors"
	"os"
	"path"
	"syscall"

	"github.com/mountward/mountward/pkg/internal/linux"
)

// ask opens a path of the host for reference, as Lookup does, and asks what may
// have to wait for its file system. The walk and the question together are
// waited for no longer than Options.Wait, and not at all where an earlier one
// is stuck in the same mount. The error is a *CannotTell.
func ask[T any](ctx context.Context, v *View, path string, question func(*helper, *os.File) (T, error)) (T, error) {
	var none T
	if err := v.walkable(path); err != nil {
		return none, err
	}
	answer, err := v.walker.ask(ctx, path, func(h *helper, f *os.File) (any, error) { return question(h, f) })
	if err != nil {
		return none, walkFailed(path, err)
	}
	return answer.(T), nil
}

// ask lets a helper do what can wait. The helper has the file for itself: one
// that is abandoned closes it when it comes back.
func (w *walker) ask(ctx context.Context, path string, question func(*helper, *os.File) (any, error)) (any, error) {
	f, _, err := w.cached(path)
	if err != nil && !mayWait(err) {
		return nil, err
	}
	h, err := w.begin()
	if err != nil {
		closeReference(f)
		return nil, err
	}
	r := w.await(ctx, h, func() outcome {
		f := f // nothing of a caller's is written by one that it left behind
		if f == nil {
			var err error
			if f, err = w.walk(h, path); err != nil {
				return outcome{err: err}
			}
		}
		defer closeReference(f)
		if err := w.enterMountOf(h, f); err != nil {
			return outcome{err: err}
		}
		value, err := question(h, f)
		return outcome{value, err}
	})
	return r.value, r.err
}

// directoryOf returns a directory on the file system of a file: itself, or the
// one it is in. A file can be mounted by itself, on a directory that belongs to
// another file system.
func (v *View) directoryOf(h *helper, f *os.File) (*os.File, error) {
	info, err := f.Stat()
	if err != nil || info.IsDir() {
		return f, err
	}
	name, err := linux.FDPath(v.proc, f)
	if err != nil {
		return nil, err
	}
	dir, err := v.walker.walk(h, path.Dir(name))
	if err != nil {
		return nil, err
	}
	if err := sameDevice(info, dir); err != nil {
		closeReference(dir)
		return nil, err
	}
	return dir, nil
}

var errNoDirectory = errors.New("a file that is mounted by itself: there is no directory of its file system to ask")

// sameDevice compares st_dev, which no two file systems share.
func sameDevice(file os.FileInfo, dir *os.File) error {
	info, err := dir.Stat()
	if err != nil {
		return err
	}
	if info.Sys().(*syscall.Stat_t).Dev != file.Sys().(*syscall.Stat_t).Dev {
		return errNoDirectory
	}
	return nil
}
