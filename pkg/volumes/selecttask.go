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

// selection applies the filter to a task.
func (f Filter) selection(t *Task) selection {
	s := selection{f, map[facts.DeviceNumber]bool{}}
	for _, all := range [][]Storage{t.Storage, t.Rest} {
		for _, st := range all {
			s.on[st.Device] = f.holds(st)
		}
	}
	return s
}

// of returns what of a task is on the storage asked for, false for nothing.
// Block devices and mounts are listed for it that were not before.
func (f Filter) of(t Task) (Task, bool) {
	s := f.selection(&t)
	all := t.Mounts
	t.Mounts = nil
	for _, m := range all {
		if m, ok := s.mount(m, t.stored); ok {
			t.Mounts = append(t.Mounts, m)
		}
	}
	t.listRaw(keep(t.raw(), s.raw))
	if !s.rootfs(t.Rootfs) {
		t.Rootfs = Rootfs{}
	}
	used := t.used()
	inUse := func(st Storage) bool { return used[st.Device] }
	t.Storage = append(keep(t.Storage, inUse), keep(t.Rest, inUse)...)
	t.Rest = keep(t.Rest, func(st Storage) bool { return !inUse(st) })
	return t, len(used) > 0
}

// stored finds the storage of a superblock or raw device, nil for one that the
// task does not have.
func (t *Task) stored(n facts.DeviceNumber) *Storage {
	for _, all := range [][]Storage{t.Storage, t.Rest} {
		for i := range all {
			if all[i].Device == n {
				return &all[i]
			}
		}
	}
	return nil
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

// mount returns a mount with what of the mounts on it is wanted, false where
// that is nothing and it is not wanted itself.
func (s selection) mount(m Mount, by func(facts.DeviceNumber) *Storage) (Mount, bool) {
	if m.Submounts != nil {
		m.Submounts = submountsOf(keep(m.Submounts.All, s.submount), by)
	}
	return m, s.itself(m) || m.Submounts != nil
}

func (s selection) itself(m Mount) bool {
	return s.place(m.superblock(), m.Root) && s.device(m.Device, m.Superblock)
}

func (s selection) submount(b Submount) bool {
	return s.place(b.Mounted.Device, b.Mounted.Root) && s.device(b.Device, b.Mounted.Device)
}

func (s selection) raw(r Raw) bool { return s.Path.IsZero() && s.device(r.Device) }

// rootfs asks about what is written and, but for a path, about the layers.
func (s selection) rootfs(r Rootfs) bool {
	var numbers []facts.DeviceNumber
	for _, l := range r.Lower {
		numbers = append(numbers, l.Device)
	}
	return s.written(r, numbers...)
}

// written asks about what is written, and about more devices.
func (s selection) written(r Rootfs, more ...facts.DeviceNumber) bool {
	inPlace := s.place(r.Device, r.Root) || !r.Superblock.IsZero() && s.place(r.Superblock, "/")
	return !r.Device.IsZero() && inPlace && s.device(append(more, r.Device, r.Superblock)...)
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
			for _, s := range m.Submounts.All {
				used[s.Device] = true
			}
		}
	}
	for _, r := range t.raw() {
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
