package hostview

import (
	"context"
	"os"

	"github.com/mountward/mountward/pkg/internal/linux"
)

// Statfs is what statfs(2) tells of a file system that does not change while it
// is written to. A resize changes Blocks and Files.
type Statfs struct {
	Type                     int64 // the magic number
	BlockSize, Blocks, Files uint64
	// FSID is f_fsid: two numbers that file systems make up in their own ways,
	// zero where they have none. That of btrfs differs for each subvolume.
	FSID [2]uint32
}

// Statfs asks the file system that a path of the host is on.
func (v *View) Statfs(ctx context.Context, path string) (Statfs, error) {
	return ask(ctx, v, path, func(_ *helper, f *os.File) (Statfs, error) {
		s, err := linux.Fstatfs(f)
		return Statfs(s), err
	})
}
