//go:build linux

package guest

import (
	"fmt"
	"slices"
)

// others is every difference between what mountward says of a target and what
// lvs, lsblk and findmnt say, sorted.
func (s *stack) others(got target) []string {
	s.Helper()
	all := slices.Concat(s.lvs(got.Storage), s.lsblk(got.Storage), s.findmnt(got))
	slices.Sort(all)
	for _, line := range all {
		s.Log(line)
	}
	return all
}

// edges compares what a device lies on: by mountward, and by a program.
func (s *stack) edges(program string, st storage, l *layer, theirs []string) []string {
	var all []string
	only := func(a, b []string) (rest []string) {
		for _, n := range a {
			if !slices.Contains(b, n) {
				rest = append(rest, n)
			}
		}
		return rest
	}
	if silent := only(l.Lower, theirs); len(silent) > 0 {
		all = append(all, fmt.Sprintf("%s is silent about %s on %s", program, s.label(l), s.named(st, silent)))
	}
	if more := only(theirs, l.Lower); len(more) > 0 {
		all = append(all, fmt.Sprintf("%s has %s on %s", program, s.label(l), s.named(st, more)))
	}
	return all
}
