package hostview

import (
	"iter"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

// Table is a mountinfo table read at one time. It never changes and may be
// used by many goroutines.
//
// A node can have 50,000 mounts, so it is kept small: mount points lie in one
// string, everything else is a number into a list of distinct strings. The
// runtime's table does without the superblock options.
type Table struct {
	records []record
	points  string   // all mount points, one after the other
	words   []string // all other strings, each once

	byPoint  []int32 // records ordered by mount point, parent, position
	byID     []int32 // records ordered by id
	byDevice []int32 // records ordered by device, position
}

type record struct {
	id, parent                            int32
	device                                facts.DeviceNumber
	peer, master                          int32
	point, pointLen                       uint32
	root, fsType, source, options, supers uint32
	unbindable                            bool
}

// Len returns the number of mounts.
func (t *Table) Len() int { return len(t.records) }

// All returns the mounts in the order of the table.
func (t *Table) All() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for i := range t.records {
			if !yield(t.entry(int32(i))) {
				return
			}
		}
	}
}

// ByID returns the mount with the mountinfo id.
func (t *Table) ByID(id int) (Entry, bool) {
	if i := t.find(id); i >= 0 {
		return t.entry(i), true
	}
	return Entry{}, false
}

// ByDevice returns all mounts of one superblock, hidden ones too, in the order
// of the table. The device number of a btrfs superblock is anonymous.
func (t *Table) ByDevice(device facts.DeviceNumber) []Entry {
	var all []Entry
	for _, i := range t.ofDevice(device) {
		all = append(all, t.entry(i))
	}
	return all
}

// Mounted reports whether a superblock is mounted anywhere, hidden or not.
func (t *Table) Mounted(device facts.DeviceNumber) bool { return len(t.ofDevice(device)) > 0 }

// Showing returns the visible mounts that show a path of a superblock or what is
// below it, in the order of the table: at most so many, and whether there are
// more.
func (t *Table) Showing(what facts.Identity, most int) (found []Entry, more bool) {
	last, within := uint32(0), false // mounts of one superblock often have one root
	for n, i := range t.ofDevice(what.Device) {
		if root := t.records[i].root; n == 0 || root != last {
			last, within = root, facts.Within(t.words[root], what.Root)
		}
		if !within || !t.visible(i) {
			continue
		}
		if len(found) == most {
			return found, true
		}
		found = append(found, t.entry(i))
	}
	return found, false
}

func (t *Table) ofDevice(device facts.DeviceNumber) []int32 {
	return equal(t.byDevice, func(i int32) int { return compareDevice(t.records[i].device, device) })
}

// Below returns the visible mounts strictly below a path, ordered by mount
// point.
func (t *Table) Below(path string) []Entry {
	path, ok := facts.CleanAbs(path)
	if !ok {
		return nil
	}
	prefix := strings.TrimSuffix(path, "/") + "/"
	var all []Entry
	for _, i := range equal(t.byPoint, func(i int32) int { return comparePrefix(t.point(i), prefix) }) {
		if t.point(i) != path && t.visible(i) {
			all = append(all, t.entry(i))
		}
	}
	return all
}

func (t *Table) find(id int) int32 {
	same := equal(t.byID, func(i int32) int { return int(t.records[i].id) - id })
	if len(same) == 0 {
		return -1
	}
	return same[0]
}

func (t *Table) point(i int32) string {
	r := &t.records[i]
	return t.points[r.point : r.point+r.pointLen]
}

func (t *Table) entry(i int32) Entry {
	r := &t.records[i]
	return Entry{
		ID: int(r.id), Parent: int(r.parent), Device: r.device,
		Root: t.words[r.root], MountPoint: t.point(i), FSType: t.words[r.fsType], Source: t.words[r.source],
		Options: t.words[r.options], SuperOptions: t.words[r.supers],
		State: facts.MountState{Peer: int(r.peer), Master: int(r.master), Unbindable: r.unbindable},
	}
}
