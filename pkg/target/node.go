package target

import (
	"context"

	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/volumes"
)

// Host is what finding a target needs of the host view.
type Host interface {
	Lookup(ctx context.Context, path string) (facts.HostMount, error)
	BlockNumber(ctx context.Context, path string) (facts.DeviceNumber, error)
	Btrfs(ctx context.Context, path string) (hostview.Btrfs, error)
	Table(ctx context.Context) (*hostview.Table, error)
}

// Devices resolves a block device to what it is stored on.
type Devices interface {
	Chain(number facts.DeviceNumber) (device.Chain, error)
}

// Node is where targets are looked for.
type Node struct {
	Proc        string // where procfs is mounted; "/proc"
	Sys         string // and sysfs; "/sys"
	KubeletRoot string
	Host        Host
	Devices     Devices
	// Survey lists the containers. It is called only where the name can be one
	// of theirs; nil: there are none.
	Survey func(context.Context) volumes.Survey
}
