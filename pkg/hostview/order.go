package hostview

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

func (t *Table) order() {
	t.byPoint = t.sorted(func(a, b int32) int {
		return cmp.Or(strings.Compare(t.point(a), t.point(b)), cmp.Compare(t.records[a].parent, t.records[b].parent))
	})
	t.byID = t.sorted(func(a, b int32) int { return cmp.Compare(t.records[a].id, t.records[b].id) })
	t.byDevice = t.sorted(func(a, b int32) int { return compareDevice(t.records[a].device, t.records[b].device) })
}

// sorted returns the records in an order, in that of the table where it makes
// no difference.
func (t *Table) sorted(order func(a, b int32) int) []int32 {
	index := make([]int32, len(t.records))
	for i := range index {
		index[i] = int32(i)
	}
	slices.SortFunc(index, func(a, b int32) int { return cmp.Or(order(a, b), cmp.Compare(a, b)) })
	return index
}

// equal returns the part of an ordered index for which compare gives 0.
func equal(index []int32, compare func(int32) int) []int32 {
	low := sort.Search(len(index), func(i int) bool { return compare(index[i]) >= 0 })
	n := sort.Search(len(index)-low, func(i int) bool { return compare(index[low+i]) > 0 })
	return index[low : low+n]
}

func compareDevice(a, b facts.DeviceNumber) int {
	return cmp.Or(cmp.Compare(a.Major, b.Major), cmp.Compare(a.Minor, b.Minor))
}

// comparePrefix is 0 for every string that starts with the prefix; they lie
// side by side in the order of strings.
func comparePrefix(s, prefix string) int {
	return strings.Compare(s[:min(len(s), len(prefix))], prefix)
}
