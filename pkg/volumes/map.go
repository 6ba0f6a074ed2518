package volumes

import (
	"context"
)

// Map returns the map of the task with this pid, whose rootfs is at the given
// path of the host ("" where that is not known). It waits for no file system
// longer than the Host does. The views are not in it: see Task.SetViews.
func Map(ctx context.Context, s Sources, pid int, rootfs string) Task {
	m := newMapper(s)
	m.gather(ctx)
	task := Task{PID: pid, Rootfs: m.rootfs(ctx, rootfs)}
	below := m.below()
	for i, o := range s.Outcomes {
		if o.Mount.Bind() {
			task.Mounts = append(task.Mounts, m.mount(ctx, o, s.Located.Places[i], below[i]))
		}
	}
	m.raw(ctx, &task)
	if s.Whole {
		task.Own = m.own(ctx)
	}
	task.Storage, task.Rest = m.storage, m.unlisted()
	return task
}

// gather resolves the sources of all mounts: what one leads to can be the way
// to the superblock of another.
func (m *mapper) gather(ctx context.Context) {
	for _, o := range m.Outcomes {
		if !o.Mount.Bind() {
			continue
		}
		if host, err := m.source(ctx, o.Mount.Source); err == nil && host.Device.Major == 0 {
			m.candidates[host.Device] = append(m.candidates[host.Device], host)
		}
	}
}

// Unmapped is the map of a task whose tables could not be read, with the
// reason.
func Unmapped(pid int, why string) Task {
	return Task{PID: pid, Rootfs: Rootfs{Backing: Backing{NoLV: cannotTell + why}}}
}
