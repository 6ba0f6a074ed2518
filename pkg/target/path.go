package target

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// path is a target by a path of the host: that of a block device means the
// device, of a namespace's file the namespace, and any other the part of the
// file system that it leads to.
func (r *resolver) path(ctx context.Context, name string) (Target, error) {
	if t, ok, err := r.link(name); ok {
		return t, err
	}
	m, err := r.Host.Lookup(ctx, name)
	if err != nil {
		return r.withoutWalk(ctx, name, err)
	}
	if number, err := r.Host.BlockNumber(ctx, name); err == nil {
		t := r.block(ctx, name, number)
		t.Path = m.Canonical
		return t, nil
	}
	if m.FSType == "nsfs" {
		t := namespace(name, m.Root)
		t.Path, t.Superblocks[0].Device, t.Superblocks[0].Mounted = m.Canonical, m.Device, m.MountPoint
		return t, nil
	}
	return r.on(ctx, name, m), nil
}

// on is the part of a file system that a path leads to.
func (r *resolver) on(ctx context.Context, name string, m facts.HostMount) Target {
	t := Target{Name: name, Kind: KindPath, Path: m.Canonical}
	at := m.Identity()
	s := Superblock{Device: at.Device, Root: at.Root, FSType: m.FSType, Mounted: m.MountPoint}
	if chain, ok := r.stack.Chain(at.Device); ok {
		t.Chain = &chain
		s.describe(chain)
	}
	switch m.FSType {
	case "btrfs":
		if s.BtrfsID = r.btrfsID(ctx, at.Device); s.BtrfsID == "" {
			t.Why = r.pools.why
		}
	case "overlay":
		t.Notes = append(t.Notes, "it is on an overlay: what holds the file systems of its layers is asked by their paths")
	}
	t.Superblocks = []Superblock{s}
	return t
}

// withoutWalk is for a path that cannot be walked: a device of which there is no
// node, or the mount point of a file system that does not answer.
func (r *resolver) withoutWalk(ctx context.Context, name string, err error) (Target, error) {
	if errors.Is(err, fs.ErrNotExist) {
		if t, ok := r.mapped(ctx, name); ok {
			return t, nil
		}
		var cannot *hostview.CannotTell
		if errors.As(err, &cannot) { // which it can: there is none
			err = fmt.Errorf("%s: %s", cannot.Path, cannot.Why)
		}
		return Target{}, fmt.Errorf("%w: %w; what is gone can be asked about by its device number, MAJ:MIN", ErrNone, err)
	}
	if r.table != nil {
		if e, ok := r.table.At(path.Clean(name)); ok {
			t := r.on(ctx, name, e.HostMount(e.MountPoint))
			t.Notes = append(t.Notes, fmt.Sprintf("the path does not answer (%v): what is mounted there was taken from the mount table", err))
			return t, nil
		}
	}
	return Target{}, err
}
