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

// Limits returns the devices that the tasks write to: those below the root
// filesystems, the mounts that are not read-only and the raw devices, each once,
// ascending. Only the topmost device counts: the kernel accounts what a task
// writes there, and the disks below do not know whose it is. What has no such
// device, or of which that cannot be told, is unknown with its reason; nothing
// is said of what is in memory.
func (s Survey) Limits() ([]Limit, []Unknown) {
	var l limits
	for i := range s.Members {
		l.task(&s.Members[i])
	}
	return l.sorted(), l.unknown
}

// Limits returns the devices of a file system that nobody may have mounted,
// with the reason where there are none.
func (s *Storage) Limits() ([]Limit, string) {
	var l limits
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
	devices []Limit
	unknown []Unknown
}

func (l *limits) task(m *Member) {
	by := map[facts.DeviceNumber]*Storage{}
	for i := range m.Storage {
		by[m.Storage[i].Device] = &m.Storage[i]
	}
	of := " of " + describe(*m)
	if r := m.Rootfs; !r.ReadOnly && (!r.Device.IsZero() || r.NoLV != "") {
		l.add("the root filesystem"+of, by[r.Device], r.Backing)
	}
	for _, t := range m.Mounts {
		if !t.ReadOnly {
			l.add("mount "+printable(t.Destination)+of, by[t.Device], t.Backing)
		}
	}
	for _, r := range m.Raw {
		l.add("device "+printable(r.Path)+of, by[r.Device], r.Backing)
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
	for _, top := range s.Layers[:min(s.Tops, len(s.Layers))] {
		number := top.Number
		if top.Kind == device.Partition && top.DMName == "" && len(top.Lower) == 1 {
			number = top.Lower[0]
		}
		l.devices = append(l.devices, Limit{number})
	}
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
