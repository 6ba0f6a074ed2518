package volumes

import (
	"context"
	"errors"
	"fmt"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/overlay"
)

// overlaid is one overlay: where its directories are on the host now.
type overlaid struct {
	overlay.Layers
	at       facts.HostMount // what the upper directory's name leads to
	verified facts.Answer
	Backing  // of the upper directory
}

// overlay resolves an overlay by the names of its directories. A name can lead
// elsewhere by now, so that a device is told only where it was verified. path
// is where the host has the overlay mounted, "" where that is not known.
//
// An upper directory is never on an overlay: the kernel refuses to mount that
// (measured on Linux 6.18).
func (m *mapper) overlay(ctx context.Context, e hostview.Entry, path string) *overlaid {
	if o, ok := m.overlays[e.Device]; ok {
		return o
	}
	o := &overlaid{Layers: overlay.Parse(e.SuperOptions)}
	m.overlays[e.Device] = o
	switch {
	case e.SuperOptions == "":
		m.unresolved(o, e, errors.New("the overlay's options are not known: its line in the mount table is too long"))
		return o
	case o.Upper == "":
		m.unresolved(o, e, noDevice("an overlay without an upper directory: nothing is written"))
		return o
	}
	var err error
	if o.at, err = m.look(ctx, o.Upper); err != nil {
		o.verified = facts.CannotTell(because(err))
		m.unresolved(o, e, err)
		return o
	}
	upper := Upper{Name: o.Upper, At: o.at}
	o.verified = upper.verify(ctx, once{m.Host, m}, e.Device, path)
	switch o.verified.Truth {
	case facts.Yes:
		o.Backing = m.backing(ctx, superblockAt(o.at))
	case facts.No:
		m.unresolved(o, e, fmt.Errorf("%s is not the overlay's upper directory any more (%s)", printable(o.Upper), o.verified.Why))
	default:
		m.unresolved(o, e, errors.New(o.verified.Why))
	}
	return o
}

// unresolved lists the overlay's own superblock, with the reason.
func (m *mapper) unresolved(o *overlaid, e hostview.Entry, err error) {
	s := m.told(e.Device, e.FSType, err)
	m.use(s)
	o.Backing = s.backing()
}

// maxLower bounds the read-only layers that are told. The kernel has 500 at
// most.
const maxLower = 512

// lower finds the devices of the read-only layers. That a name still leads to
// the layer cannot be verified.
func (m *mapper) lower(ctx context.Context, l overlay.Layers) []Lower {
	var all []Lower
	for _, name := range l.Lower[:min(maxLower, len(l.Lower))] {
		path, ok := l.Rebase(name)
		if !ok {
			all = append(all, Lower{Path: name, Why: "a path relative to a directory that is not known"})
			continue
		}
		at, err := m.look(ctx, path)
		if err != nil {
			all = append(all, Lower{Path: path, Why: because(err)})
			continue
		}
		all = append(all, Lower{Path: path, Device: at.Device})
		m.use(m.resolve(ctx, superblockAt(at)))
	}
	return all
}
