package volumes

import (
	"context"

	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/verify"
)

// Sources is what a map is joined from.
type Sources struct {
	Outcomes  []facts.Outcome // what was asked and decided, one a mount
	Container *hostview.Table // the task's own mount table
	Located   verify.Located  // the outcomes in it
	// Lookup resolves the sources of the mounts: with the answers that the
	// proof had, so that both speak of one moment. nil: Host does.
	Lookup      func(path string) (facts.HostMount, error)
	Host        Host
	Devices     Devices
	KubeletRoot string
	RuntimeDirs []string       // containerd's root and state
	Raw         []facts.Device // linux.devices of the specification
	PodUID      string         // "" where it is not known
	Whole       bool           // also what a map does not list, see Task.Rest
}

// mapper draws the map of one task. It asks about each path, superblock and
// overlay once.
type mapper struct {
	Sources
	looked     map[string]looked
	candidates map[facts.DeviceNumber][]facts.HostMount // sources of mounts, by superblock
	overlays   map[facts.DeviceNumber]*overlaid
	stored     map[facts.DeviceNumber]*stored
	storage    []Storage // of what is used, in the order of its first use
	rest       []*stored // of what is kept without being listed
}

type looked struct {
	mount facts.HostMount
	err   error
}

func newMapper(s Sources) *mapper {
	if cache, ok := s.Devices.(*device.Cache); ok {
		s.Devices = cache.Moment()
	}
	m := &mapper{
		Sources: s, looked: map[string]looked{}, candidates: map[facts.DeviceNumber][]facts.HostMount{},
		overlays: map[facts.DeviceNumber]*overlaid{}, stored: map[facts.DeviceNumber]*stored{},
	}
	return m
}

// source resolves the source of a mount.
func (m *mapper) source(ctx context.Context, path string) (facts.HostMount, error) {
	if m.Lookup != nil {
		return m.Lookup(path)
	}
	return m.look(ctx, path)
}

// look resolves any other path of the host.
func (m *mapper) look(ctx context.Context, path string) (facts.HostMount, error) {
	l, ok := m.looked[path]
	if !ok {
		l.mount, l.err = m.Host.Lookup(ctx, path)
		m.looked[path] = l
	}
	return l.mount, l.err
}
