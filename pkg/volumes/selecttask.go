package volumes

import (
	"slices"

	"github.com/mountward/mountward/pkg/facts"
)

// selection is a filter applied to one task.
type selection struct {
	Filter
	on map[facts.DeviceNumber]bool // superblocks that are on the LV and device asked for
}

// of returns what of a task is on the storage asked for, false for nothing.
func (f Filter) of(t Task) (Task, bool) {
	s := selection{f, map[facts.DeviceNumber]bool{}}
	for _, st := range t.Storage {
		s.on[st.Device] = f.holds(st)
	}
	t.Mounts = keep(t.Mounts, s.mount)
	t.Raw = keep(t.Raw, func(r Raw) bool { return f.Path.IsZero() && s.device(r.Device) })
	if !s.rootfs(t.Rootfs) {
		t.Rootfs = Rootfs{}
	}
	used := t.used()
	t.Storage = keep(t.Storage, func(st Storage) bool { return used[st.Device] })
	for _, m := range t.Mounts {
		if m.Submounts == nil {
			continue
		}
		for _, st := range m.Submounts.All {
			if !used[st.Device] && s.submount(st) {
				used[st.Device] = true
				t.Storage = append(t.Storage, st)
			}
		}
	}
	return t, len(used) > 0
}

// holds reports whether a superblock or raw device is on the logical volume and
// device asked for, at any depth.
func (f Filter) holds(s Storage) bool {
	lv, dev := f.LV == "", f.Device.IsZero() || f.Device == s.Device
	for _, l := range s.Layers {
		lv = lv || l.LV != nil && l.LV.String() == f.LV
		dev = dev || l.Number == f.Device
	}
	return lv && dev
}

// device reports whether one of the numbers, that of a superblock and of what
// is below an overlay, is on what was asked for.
func (s selection) device(numbers ...facts.DeviceNumber) bool {
	if s.LV == "" && s.Device.IsZero() {
		return true
	}
	return slices.ContainsFunc(numbers, func(n facts.DeviceNumber) bool {
		return s.on[n] || s.LV == "" && !n.IsZero() && n == s.Device
	})
}

// place reports whether a path of a superblock is at, above or below the path
// asked for.
func (s selection) place(superblock facts.DeviceNumber, root string) bool {
	return s.Path.IsZero() || superblock == s.Path.Device && (facts.Within(root, s.Path.Root) || facts.Within(s.Path.Root, root))
}

func (s selection) mount(m Mount) bool {
	return s.place(m.superblock(), m.Root) && s.device(m.Device, m.Superblock) ||
		m.Submounts != nil && slices.ContainsFunc(m.Submounts.All, s.submount)
}

// submount goes by the superblock alone: which part of it is mounted is not
// kept of each.
func (s selection) submount(st Storage) bool {
	return s.holds(st) && (s.Path.IsZero() || st.Device == s.Path.Device)
}

// rootfs asks about what is written and, but for a path, about the layers.
func (s selection) rootfs(r Rootfs) bool {
	numbers := []facts.DeviceNumber{r.Device, r.Superblock}
	for _, l := range r.Lower {
		numbers = append(numbers, l.Device)
	}
	inPlace := s.place(r.Device, r.Root) || !r.Superblock.IsZero() && s.place(r.Superblock, "/")
	return !r.Device.IsZero() && inPlace && s.device(numbers...)
}

// used are the superblocks and raw devices of what a task has.
func (t *Task) used() map[facts.DeviceNumber]bool {
	used := map[facts.DeviceNumber]bool{t.Rootfs.Device: true}
	for _, l := range t.Rootfs.Lower {
		used[l.Device] = true
	}
	for _, m := range t.Mounts {
		used[m.Device] = true
		if m.Submounts != nil {
			for _, s := range m.Submounts.First {
				used[s.Device] = true
			}
		}
	}
	for _, r := range t.Raw {
		used[r.Device] = true
	}
	delete(used, facts.DeviceNumber{})
	return used
}

// keep returns what is wanted, and leaves the list as it is.
func keep[T any](all []T, wanted func(T) bool) []T {
	var kept []T
	for _, x := range all {
		if wanted(x) {
			kept = append(kept, x)
		}
	}
	return kept
}
