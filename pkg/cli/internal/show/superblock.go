package show

import (
	"cmp"
	"slices"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/volumes"
)

// superblock is one file system or raw device and who has it: trees and
// diagrams start from it, while a report starts from the containers.
type superblock struct {
	volumes.Storage
	asked  bool // by path or device: it is shown whoever has it
	places []*place
	uses   []use
}

// place is a path of the host at which a superblock can be reached.
type place struct {
	path, role string
	upper      string            // of the overlay that the path is on, "" for none
	state      *facts.MountState // nil: not known
	uses       []use             // mounts of containers that were made from it
}

// use is one thing of a container: one of its mounts or, for what has no place
// on the host, its root filesystem, a block device, or a mount that lies on one
// of its mounts. A mount has none where the host has something else at its
// source now, or where that cannot be told.
type use struct {
	task     Task
	mount    *volumes.Mount
	rootfs   *volumes.Rootfs
	raw      *volumes.Raw
	submount *volumes.Submount
}

// superblocks turns a report round. Those on logical volumes come first, by
// their names; then the others by type and device.
func superblocks(v Volumes) []*superblock {
	x := index{}
	for _, t := range v.Targets {
		x.target(t)
	}
	for _, t := range v.Tasks {
		x.task(t)
	}
	var all []*superblock
	for _, s := range x {
		if s.asked || len(s.places)+len(s.uses) > 0 {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b *superblock) int {
		return cmp.Or(
			-compareBool(a.onLV(), b.onLV()),
			cmp.Compare(a.lv(), b.lv()),
			cmp.Compare(a.FSType, b.FSType),
			cmp.Compare(a.Device.Major, b.Device.Major),
			cmp.Compare(a.Device.Minor, b.Device.Minor),
			cmp.Compare(a.NoLV, b.NoLV),
		)
	})
	return all
}

// key is a superblock's device number, or the reason why that is not known.
type key struct {
	device facts.DeviceNumber
	why    string
}

type index map[key]*superblock

func (x index) target(t Target) {
	if t.Storage == nil {
		return
	}
	s := x.of(*t.Storage)
	s.asked = true
	if t.Mount != nil {
		s.place(t.Mount.MountPoint, "").state = &t.Mount.State
	}
}

func (x index) task(t Task) {
	for _, storage := range t.Storage {
		x.of(storage)
	}
	if t.hasRootfs() {
		s := x.on(t.Rootfs.Backing, t.Rootfs.FSType)
		s.uses = append(s.uses, use{task: t, rootfs: &t.Rootfs})
	}
	for i := range t.Mounts {
		m := &t.Mounts[i]
		s := x.on(m.Backing, m.FSType)
		for _, v := range m.Views {
			s.place(v.Path, v.Role).state = &v.State
		}
		if unplaced(m) {
			s.uses = append(s.uses, use{task: t, mount: m})
		} else {
			from := s.place(m.Source, roleOf(m))
			from.upper = m.Upper
			if m.Host != nil {
				from.state = m.Host
			}
			from.uses = append(from.uses, use{task: t, mount: m})
		}
		if m.Submounts == nil {
			continue
		}
		for j := range m.Submounts.First {
			sub := &m.Submounts.First[j]
			s := x.on(sub.Backing, sub.FSType)
			s.uses = append(s.uses, use{task: t, mount: m, submount: sub})
		}
	}
	for i := range t.Raw {
		s := x.on(t.Raw[i].Backing, "")
		s.uses = append(s.uses, use{task: t, raw: &t.Raw[i]})
	}
}

// of returns the superblock with this storage.
func (x index) of(storage volumes.Storage) *superblock {
	k := key{device: storage.Device}
	if storage.Device.IsZero() {
		k.why = storage.NoLV
	}
	s := x[k]
	if s == nil {
		s = &superblock{Storage: storage}
		x[k] = s
	}
	return s
}

// on returns the superblock of a backing. One whose storage is not listed is
// made up from what the backing tells.
func (x index) on(b volumes.Backing, fsType string) *superblock {
	return x.of(volumes.Storage{Device: b.Device, FSType: fsType, NoLV: b.NoLV})
}

func (s *superblock) place(path, role string) *place {
	for _, p := range s.places {
		if p.path == path {
			p.role = cmp.Or(p.role, role)
			return p
		}
	}
	p := &place{path: path, role: role}
	s.places = append(s.places, p)
	return p
}

// roleOf is the role of the place a mount was made from, as of a view.
func roleOf(m *volumes.Mount) string {
	switch {
	case m.SubPath:
		return volumes.ViewSubPath
	case m.Volume != "":
		return volumes.ViewTarget
	default:
		return ""
	}
}

func (s *superblock) onLV() bool { return s.LV() != nil }

func (s *superblock) lv() string {
	if v := s.LV(); v != nil {
		return v.String()
	}
	return ""
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	default:
		return -1
	}
}
