package hostview

import (
	"cmp"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

// Covering returns the mount that a canonical path lies on, false where the
// path is not absolute or the table has no root. It goes down the path as the
// kernel does, from a mount to the one mounted on it there, by parent ids: what
// is covered by a later mount is not found, whatever the order of the lines.
// A symbolic link in the path is not known to a table.
func (t *Table) Covering(path string) (Entry, bool) {
	path, ok := facts.CleanAbs(path)
	if !ok {
		return Entry{}, false
	}
	if i := t.covering(path); i >= 0 {
		return t.entry(i), true
	}
	return Entry{}, false
}

// At returns the topmost visible mount exactly at a canonical path.
func (t *Table) At(mountPoint string) (Entry, bool) {
	clean, ok := facts.CleanAbs(mountPoint)
	if !ok {
		return Entry{}, false
	}
	if i := t.covering(clean); i >= 0 && t.point(i) == clean {
		return t.entry(i), true
	}
	return Entry{}, false
}

// visible reports whether the mount is what its mount point leads to.
func (t *Table) visible(i int32) bool {
	clean, ok := facts.CleanAbs(t.point(i))
	return ok && clean == t.point(i) && t.covering(clean) == i
}

func (t *Table) covering(clean string) int32 {
	at := t.down(-1, "/")
	for end := 1; end < len(clean); {
		next := strings.IndexByte(clean[end:], '/')
		if next < 0 {
			end = len(clean)
		} else {
			end += next
		}
		at = t.down(at, clean[:end])
		end++
	}
	return at
}

// down follows the stack of mounts at one path, from the mount the path is
// reached by. -1 is outside the table: a process in a chroot sees a parent
// nowhere.
func (t *Table) down(at int32, point string) int32 {
	stack := equal(t.byPoint, func(i int32) int { return strings.Compare(t.point(i), point) })
	for range stack {
		next := t.mountedOn(at, stack)
		if next < 0 {
			break
		}
		at = next
	}
	return at
}

func (t *Table) mountedOn(at int32, stack []int32) int32 {
	if at < 0 {
		for _, i := range stack {
			if r := t.records[i]; r.parent == r.id || t.find(int(r.parent)) < 0 {
				return i
			}
		}
		return -1
	}
	id := t.records[at].id
	same := equal(stack, func(i int32) int { return cmp.Compare(t.records[i].parent, id) })
	for n := len(same) - 1; n >= 0; n-- { // the later of two torn lines
		if t.records[same[n]].id != id {
			return same[n]
		}
	}
	return -1
}
