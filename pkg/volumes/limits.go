package volumes

import (
	"cmp"
	"slices"

	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/facts"
)

// Limit is a device for which io.max of cgroup v2 can have a rule. It takes
// whole devices only: that of a partition is its disk.
type Limit struct {
	Device facts.DeviceNumber
}

// String is a line for io.max that limits nothing yet. Source: Linux 6.18
// Documentation/admin-guide/cgroup-v2.rst.
func (l Limit) String() string { return l.Device.String() + " rbps=max wbps=max riops=max wiops=max" }

// Limits returns the devices that the tasks which the filter names write to:
// those below the root filesystems, the mounts that are not read-only, what is
// mounted on any of these, and the raw devices, each once, ascending. With a
// filter for storage they are those of what is on it, and of a file system on
// several devices the ones that are. Only the topmost device counts: the kernel
// accounts what a task writes there, and the disks below do not know whose it
// is. What has no such device, or of which that cannot be told, is unknown with
// its reason; nothing is said of what is in memory, nor of a task that has ended
// unless it is named.
func (s Survey) Limits(f Filter) ([]Limit, []Unknown) {
	l := limits{filter: f, overlays: map[facts.DeviceNumber]overlayOf{}}
	for i := range s.Members {
		l.know(&s.Members[i].Task)
	}
	for i := range s.Members {
		if m := &s.Members[i]; f.names(*m) && (!m.Ended || f.Task()) {
			l.task(m)
		}
	}
	return l.sorted(), l.unknown
}

// Limits returns the devices of a file system that nobody may have mounted,
// with the reason where there are none.
func (s *Storage) Limits(f Filter) ([]Limit, string) {
	if !f.holds(*s) {
		return nil, "not on what else was asked for"
	}
	l := limits{filter: f}
	l.add("", s, s.backing())
	if len(l.unknown) > 0 {
		return nil, l.unknown[0].Why
	}
	return l.sorted(), s.NoLV
}

func (l *limits) sorted() []Limit {
	slices.SortFunc(l.devices, func(a, b Limit) int {
		return cmp.Or(cmp.Compare(a.Device.Major, b.Device.Major), cmp.Compare(a.Device.Minor, b.Device.Minor))
	})
	return slices.Compact(l.devices)
}

type limits struct {
	filter   Filter
	overlays map[facts.DeviceNumber]overlayOf // by superblock
	devices  []Limit
	unknown  []Unknown
}

// overlayOf is what is written to an overlay of some task is stored on.
type overlayOf struct {
	*Storage
	Backing
}

// know keeps what the map of a task says of its overlays: below a mount of
// another task they are not followed.
func (l *limits) know(t *Task) {
	know := func(superblock facts.DeviceNumber, b Backing) {
		if st := t.stored(b.Device); st != nil && !superblock.IsZero() && b.Device != superblock {
			l.overlays[superblock] = overlayOf{st, b}
		}
	}
	know(t.Rootfs.Superblock, t.Rootfs.Backing)
	for i := range t.Mounts {
		know(t.Mounts[i].Superblock, t.Mounts[i].Backing)
	}
}

func (l *limits) task(m *Member) {
	s := l.filter.selection(&m.Task)
	of := " of " + describe(*m)
	if r := m.Rootfs; !r.ReadOnly && (s.written(r) || !l.filter.Storage() && r.NoLV != "") {
		l.add("the root filesystem"+of, m.stored(r.Device), r.Backing)
	}
	for _, t := range m.Mounts {
		if !t.ReadOnly && s.itself(t) {
			l.add("mount "+printable(t.Destination)+of, m.stored(t.Device), t.Backing)
		}
		if t.Submounts != nil {
			l.below(m, s, t.Submounts.All)
		}
	}
	l.below(m, s, m.Own)
	raw := m.raw()
	if l.filter.Storage() {
		raw = keep(raw, s.raw)
	}
	for _, r := range raw {
		l.add("device "+printable(r.Path)+of, m.stored(r.Device), r.Backing)
	}
}

// below adds what is mounted on other mounts, each superblock once.
func (l *limits) below(m *Member, s selection, all []Submount) {
	met := map[facts.DeviceNumber]bool{}
	for _, b := range all {
		if b.ReadOnly || met[b.Mounted.Device] || !s.submount(b) {
			continue
		}
		met[b.Mounted.Device] = true
		st, backing := m.stored(b.Device), b.Backing
		if o, ok := l.overlays[b.Mounted.Device]; ok {
			st, backing = o.Storage, o.Backing
		}
		l.add("mount "+printable(b.Destination)+" of "+describe(*m), st, backing)
	}
}

func (l *limits) add(what string, s *Storage, b Backing) {
	if s != nil && noInput(s.FSType) {
		return
	}
	if s == nil || len(s.Layers) == 0 {
		l.unknown = append(l.unknown, Unknown{What: what, Why: cmp.Or(b.NoLV, "not known")})
		return
	}
	for _, top := range l.filter.tops(s) {
		number := top.Number
		if top.Kind == device.Partition && top.DMName == "" && len(top.Lower) == 1 {
			number = top.Lower[0]
		}
		l.devices = append(l.devices, Limit{number})
	}
}

// tops are the topmost devices of a storage that are on what was asked for; all,
// where it was asked for by another number.
func (f Filter) tops(s *Storage) []device.Layer {
	tops := s.Layers[:min(s.Tops, len(s.Layers))]
	if len(tops) == 1 {
		return tops
	}
	on := keep(tops, func(top device.Layer) bool { return f.holds(s.part(top.Number)) })
	if len(on) == 0 {
		return tops
	}
	return on
}

// part is the storage as if its one device were this one.
func (s *Storage) part(top facts.DeviceNumber) Storage {
	layers := map[facts.DeviceNumber]device.Layer{}
	for _, l := range s.Layers {
		layers[l.Number] = l
	}
	part := Storage{Device: s.Device}
	for next := []facts.DeviceNumber{top}; len(next) > 0; next = next[1:] {
		if l, ok := layers[next[0]]; ok {
			delete(layers, next[0]) // each once
			part.Layers = append(part.Layers, l)
			next = append(next, l.Lower...)
		}
	}
	return part
}

// noInput reports file systems that do no I/O.
func noInput(fsType string) bool {
	switch fsType {
	case "tmpfs", "ramfs", "devtmpfs", "hugetlbfs", "proc", "sysfs", "cgroup", "cgroup2", "devpts", "mqueue", "bpf",
		"debugfs", "tracefs", "securityfs", "nsfs":
		return true
	}
	return false
}
