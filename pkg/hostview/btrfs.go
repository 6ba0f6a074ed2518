package hostview

import (
	"context"
	"os"

	"github.com/mountward/mountward/pkg/internal/linux"
)

// Btrfs is what a btrfs file system tells of itself.
type Btrfs struct {
	FSID    string // as in /sys/fs/btrfs
	Devices int
}

// Btrfs asks the btrfs that a path of the host is on. It takes the right to
// read a directory of it: the path, or the one that a file is in, if that is on
// the same file system. Statfs tells it without that right, but not plainly.
func (v *View) Btrfs(ctx context.Context, path string) (Btrfs, error) {
	return ask(ctx, v, path, func(h *helper, f *os.File) (Btrfs, error) {
		dir, err := v.directoryOf(h, f)
		if err != nil {
			return Btrfs{}, err
		}
		if dir != f {
			defer closeReference(dir)
		}
		b, err := linux.Btrfs(dir)
		return Btrfs(b), err
	})
}
