package volumes

import (
	"context"
	"fmt"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/verify"
)

// mount maps one mount. What it is stored on is told by the superblock that the
// container has mounted: the source can lead elsewhere by now, and what is there
// is not the host's side of this mount.
func (m *mapper) mount(ctx context.Context, o facts.Outcome, place verify.Place, below []hostview.Entry) Mount {
	t := Mount{
		Destination: o.Mount.Destination, Source: o.Mount.Source,
		Asked: o.Asked, Decided: o.Expected(),
	}
	host, err := m.source(ctx, o.Mount.Source)
	if err != nil {
		t.Why = because(err)
	}
	m.name(ctx, &t, o.Mount, host)
	if !place.Found {
		why := fmt.Sprintf("no mount at %s in the container's table, and none of what was decided about", o.Mount.CleanDestination())
		also(&t.Why, why)
		t.NoLV = cannotTell + why
		return t
	}
	e := place.Entry
	t.FSType, t.Root, t.ReadOnly = e.FSType, e.Root, readOnly(e)
	if e.MountPoint != o.Mount.CleanDestination() {
		t.At = e.MountPoint
	}
	if place.Sure {
		t.Seen = &e.State
	}
	path := ""
	if err == nil {
		also(&t.Why, changed(place, host))
		if host.Device == e.Device {
			path = host.Canonical
			t.Host, t.MountPoint = &host.State, host.MountPoint
		}
	}
	t.store(ctx, m, e, path)
	file := path != "" && host.File // on a part of which nothing can be mounted
	t.OpenEnded = receives(t.Seen, t.Host) && !file
	t.Submounts = m.submounts(ctx, e, path, below)
	return t
}

// store tells what the mount is stored on; of an overlay, what is written goes
// to its upper directory.
func (t *Mount) store(ctx context.Context, m *mapper, e hostview.Entry, path string) {
	if e.FSType != "overlay" {
		t.Backing = m.backing(ctx, superblockOf(e, path))
		return
	}
	o := m.overlay(ctx, e, path)
	t.Superblock, t.Upper, t.Backing = e.Device, o.Upper, o.Backing
}

// changed says how the container's mount and the host's differ.
func changed(place verify.Place, host facts.HostMount) string {
	now := host.Identity()
	switch {
	case now.IsZero():
		return ""
	case place.Over != nil && place.Over.Identity() == now:
		return fmt.Sprintf("hidden in the container by %s %s, which the host mounted over the source since", place.Over.Device, printable(place.Over.Root))
	case place.Entry.Identity() != now:
		return fmt.Sprintf("the source leads to %s %s now: it was mounted over or replaced since", now.Device, printable(now.Root))
	}
	return ""
}

// receives reports that what is mounted on the host below the source arrives:
// the mount is a slave, or a peer of the host's.
func receives(seen, host *facts.MountState) bool {
	return seen != nil && (seen.Master != 0 || host != nil && seen.Peer != 0 && seen.Peer == host.Peer)
}
