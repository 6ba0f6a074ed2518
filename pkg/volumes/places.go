package volumes

import (
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// places are the visible mounts of the host by superblock. A superblock can be
// mounted ten thousand times: it is looked through once for all volumes on it.
type places struct {
	table *hostview.Table
	of    map[facts.DeviceNumber][]nth // sorted by the root in the superblock
}

// nth is a mount and where it stands in the table.
type nth struct {
	hostview.Entry
	n int
}

func newPlaces(table *hostview.Table) *places {
	return &places{table, map[facts.DeviceNumber][]nth{}}
}

// within returns the mounts that show a path of a superblock or what is below
// it, in the order of the table.
func (p *places) within(device facts.DeviceNumber, root string) []hostview.Entry {
	all, ok := p.of[device]
	if !ok {
		for i, e := range p.table.Elsewhere(device, "") {
			all = append(all, nth{e, i})
		}
		slices.SortFunc(all, func(a, b nth) int { return strings.Compare(a.Root, b.Root) })
		p.of[device] = all
	}
	var found []nth
	if root == "/" {
		found = slices.Clone(all)
	} else { // "0" is the character after "/"
		found = slices.Concat(span(all, root, root+"\x00"), span(all, root+"/", root+"0"))
	}
	slices.SortFunc(found, func(a, b nth) int { return a.n - b.n })
	entries := make([]hostview.Entry, len(found))
	for i, f := range found {
		entries[i] = f.Entry
	}
	return entries
}

// span returns the mounts with a root from one text up to another.
func span(all []nth, from, to string) []nth {
	at := func(text string) int {
		i, _ := slices.BinarySearchFunc(all, text, func(e nth, text string) int { return strings.Compare(e.Root, text) })
		return i
	}
	return all[at(from):at(to)]
}
