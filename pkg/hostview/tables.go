package hostview

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/linux"
)

// Table returns the runtime's mount table, not older than the last change the
// kernel told of. It waits for a stale one up to ctx. Propagation in it can be
// older: see Recheck. Superblock options are not kept.
func (v *View) Table(ctx context.Context) (*Table, error) {
	return v.cache.get(ctx, told)
}

// TableNow returns what Table would return at once, false where that would have
// to read or to wait. It never begins a reading.
func (v *View) TableNow() (*Table, bool) { return v.cache.ready() }

// Reread returns a table read after the call. A mount that was missing in
// Table is only gone when it is missing here too: kernels before 5.8 can drop a
// line while others are unmounted.
func (v *View) Reread(ctx context.Context) (*Table, error) {
	return v.cache.get(ctx, now)
}

// Recheck returns the entry with the propagation it has now. Changes of
// propagation alone are never told by the kernel, so an entry of Table must not
// be believed about it. Hidden entries of a stack are found as well.
func (v *View) Recheck(ctx context.Context, e Entry) (Entry, error) {
	if v.rung == RungStatmount {
		if state, ok := v.recheck(ctx, e); ok {
			e.State = state
			return e, nil
		}
	}
	t, err := v.Reread(ctx)
	if err != nil {
		return Entry{}, err
	}
	now, ok := t.ByID(e.ID)
	if !ok || now.MountPoint != e.MountPoint || now.Device != e.Device {
		return Entry{}, cannotTell(e.MountPoint, fmt.Sprintf("mount %d is no longer there", e.ID))
	}
	return now, nil
}

// recheck goes down the stack of mounts at the entry's mount point.
func (v *View) recheck(ctx context.Context, e Entry) (facts.MountState, bool) {
	top, err := v.Lookup(ctx, e.MountPoint)
	if err != nil || top.Canonical != e.MountPoint {
		return facts.MountState{}, false
	}
	for id := top.MountID; ; {
		m, err := v.statmountID(id)
		if err != nil || m.MountPoint != e.MountPoint {
			return facts.MountState{}, false
		}
		if m.InfoID == e.ID {
			h := hostMount(m)
			return h.State, h.Device == e.Device
		}
		if m.Parent == id {
			return facts.MountState{}, false
		}
		id = m.Parent
	}
}

// tableMount is the mountinfo rung: the id of the mount from statx, all else
// from the table.
func (v *View) tableMount(ctx context.Context, f *os.File) (facts.HostMount, error) {
	id, err := linux.MountID(f)
	if err != nil {
		return facts.HostMount{}, err
	}
	for _, age := range []age{recent, now} {
		t, err := v.cache.get(ctx, age)
		if err != nil {
			return facts.HostMount{}, err
		}
		if e, ok := t.ByID(id); ok {
			return e.HostMount(""), nil
		}
	}
	return facts.HostMount{}, fmt.Errorf("mount %d is not in the runtime's table: %w", id, errMoved)
}

// ContainerTable reads the mount table of a process, with superblock options.
// Hold the process while its number is used: see OpenProcess.
func (v *View) ContainerTable(pid int) (*Table, error) {
	return readTableFile(fmt.Sprintf("%s/%d/mountinfo", v.proc, pid), true)
}

func readTableFile(path string, supers bool) (t *Table, err error) {
	info, err := linux.OpenMountinfo(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, info.Close()) }()
	r, err := info.Rewind()
	if err != nil {
		return nil, err
	}
	return readTable(r, supers)
}
