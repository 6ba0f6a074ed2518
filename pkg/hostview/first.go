package hostview

import (
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

// First returns the mount at exactly this mount point that the table lists
// first: of stacked mounts the bottom one, which the kernel hides. It is not
// what a path leads to; it is what code finds that keeps the first of equal
// mount points, as NRI's does.
func (t *Table) First(mountPoint string) (Entry, bool) {
	first := int32(-1)
	for _, i := range equal(t.byPoint, func(i int32) int { return strings.Compare(t.point(i), mountPoint) }) {
		if first < 0 || i < first {
			first = i
		}
	}
	if first < 0 {
		return Entry{}, false
	}
	return t.entry(first), true
}

// ByIdentity returns the visible mounts that show this superblock from this
// root, in the order of the table.
func (t *Table) ByIdentity(identity facts.Identity) []Entry {
	var all []Entry
	for _, i := range t.ofDevice(identity.Device) {
		if t.words[t.records[i].root] == identity.Root && t.visible(i) {
			all = append(all, t.entry(i))
		}
	}
	return all
}
