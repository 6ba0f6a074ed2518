package volumes

import (
	"context"

	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// Files is what Complete needs of the host view; see Host.
type Files interface {
	ReadFile(ctx context.Context, path string, most int) ([]byte, error)
	ReadDir(ctx context.Context, path string, most int) ([]string, error)
}

// Host is what a map needs of the host view. No method waits for a file system
// longer than a bound, and every error says why.
type Host interface {
	Files
	Lookup(ctx context.Context, path string) (facts.HostMount, error)
	BlockNumber(ctx context.Context, path string) (facts.DeviceNumber, error)
	Statfs(ctx context.Context, path string) (hostview.Statfs, error)
	Btrfs(ctx context.Context, path string) (hostview.Btrfs, error)
	Handle(ctx context.Context, path string) (hostview.Handle, error)
}

// Devices resolves devices to what they are stored on.
type Devices interface {
	Chain(number facts.DeviceNumber) (device.Chain, error)
	Btrfs(fsid string, count int) (device.Chain, error)
	BtrfsByStatfs(folded [2]uint32, subvolume uint64) (device.Chain, error)
}
