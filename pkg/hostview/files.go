package hostview

import (
	"context"
	"os"
	"slices"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/linux"
)

// ReadFile returns the content of a regular file of the host. Anything else,
// such as a FIFO, is an error and is not opened; more than limit bytes are an
// error too. A file that is just being written can be empty or half.
func (v *View) ReadFile(ctx context.Context, path string, limit int) ([]byte, error) {
	return ask(ctx, v, path, func(_ *helper, f *os.File) ([]byte, error) { return linux.ReadRegular(v.proc, f, limit) })
}

// readNow is ReadFile for a file that is known to be on a file system that
// answers: only the walk to it is bounded.
func (v *View) readNow(path string, limit int) ([]byte, error) {
	f, err := v.reference(context.Background(), path)
	if err != nil {
		return nil, err
	}
	defer closeReference(f)
	text, err := linux.ReadRegular(v.proc, f, limit)
	if err != nil {
		return nil, walkFailed(path, err)
	}
	return text, nil
}

// exists is an error for a path that leads nowhere.
func (v *View) exists(ctx context.Context, path string) error {
	f, err := v.reference(ctx, path)
	closeReference(f)
	return err
}

// reference opens a path of the host for reference only, as Lookup does. The
// error is a *CannotTell.
func (v *View) reference(ctx context.Context, path string) (*os.File, error) {
	if err := v.walkable(path); err != nil {
		return nil, err
	}
	f, _, err := v.walker.open(ctx, path)
	if err != nil {
		return nil, walkFailed(path, err)
	}
	return f, nil
}

// ReadDir returns the names in a directory of the host, sorted. More than limit
// are an error.
func (v *View) ReadDir(ctx context.Context, path string, limit int) ([]string, error) {
	return ask(ctx, v, path, func(_ *helper, f *os.File) ([]string, error) {
		names, err := linux.ReadNames(f, limit)
		slices.Sort(names)
		return names, err
	})
}

// BlockNumber returns the number of the device that a block device node of the
// host is of, symbolic links followed. Any other file is an error.
func (v *View) BlockNumber(ctx context.Context, path string) (facts.DeviceNumber, error) {
	return ask(ctx, v, path, func(_ *helper, f *os.File) (facts.DeviceNumber, error) {
		major, minor, err := linux.BlockDevice(f)
		return facts.DeviceNumber{Major: major, Minor: minor}, err
	})
}
