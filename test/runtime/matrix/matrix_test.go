//go:build linux

package matrix

import (
	"fmt"
	"slices"
	"testing"
)

func columns(r Row) []string {
	return []string{
		"source " + string(r.Source), fmt.Sprint("asked ", r.Asked), "rule " + string(r.Rule), fmt.Sprint("privileged ", r.Privileged),
	}
}

// values are those that rows have in one column, pairs in any two.
func values(rows []Row) (single, pairs map[string]bool) {
	single, pairs = map[string]bool{}, map[string]bool{}
	for _, r := range rows {
		all := columns(r)
		for i, a := range all {
			single[a] = true
			for _, b := range all[i+1:] {
				pairs[a+", "+b] = true
			}
		}
	}
	return single, pairs
}

func TestRowsAreAllThereAndTheFewCoverThem(t *testing.T) {
	if n := len(Rows()); n != 90 {
		t.Errorf("%d rows, want 90", n)
	}
	single, pairs := values(Rows())
	fewSingle, _ := values(Few())
	_, pairsPairs := values(Pairs())
	for what, missing := range map[string][2]map[string]bool{
		"few": {single, fewSingle}, "pairs": {pairs, pairsPairs},
	} {
		for value := range missing[0] {
			if !missing[1][value] {
				t.Errorf("%s has no row with %s", what, value)
			}
		}
	}
	for what, test := range map[string]struct {
		rows []Row
		want int
	}{"few": {Few(), 12}, "pairs": {Pairs(), 24}} {
		if len(test.rows) != test.want {
			t.Errorf("%s has %d rows, want %d", what, len(test.rows), test.want)
		}
		for i, r := range test.rows {
			if !slices.Contains(Rows(), r) || slices.Contains(test.rows[:i], r) {
				t.Errorf("%s has %s twice, or it is none of the matrix", what, r)
			}
		}
	}
}
