package namespaces

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/hostview"
)

func tableOf(t *testing.T, mounts int) *hostview.Table {
	t.Helper()
	var text strings.Builder
	for i := range mounts {
		fmt.Fprintf(&text, "%d 1 8:1 / /%d rw - ext4 /dev/sda1 rw\n", 22+i, i)
	}
	table, err := hostview.ReadTable(strings.NewReader(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestTablesAreKeptWhileThereIsRoom(t *testing.T) {
	for name, test := range map[string]struct {
		mounts []int
		want   []bool
	}{
		"all of a small node":        {[]int{30, 40}, []bool{true, true}},
		"none that is too large":     {[]int{maxKept + 1}, []bool{false}},
		"the small beside the large": {[]int{maxKept + 1, 5}, []bool{false, true}},
		"no more than there is room": {[]int{maxKept - 10, 10, 1}, []bool{true, true, false}},
	} {
		c := &Census{}
		taking := &taking{Census: c}
		var got []bool
		for _, n := range test.mounts {
			ns, table := &Namespace{}, tableOf(t, n)
			taking.keep(ns, table)
			kept, ok := c.Kept(ns)
			if ok != (kept == table) {
				t.Errorf("%s: kept %p, read %p", name, kept, table)
			}
			got = append(got, ok)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if _, ok := (&Census{}).Kept(&Namespace{}); ok {
		t.Error("a table is kept that was not read")
	}
}

// A census by the links of processes has to read all tables.
func TestTheCensusKeepsWhatItHadToRead(t *testing.T) {
	needRoot(t)
	p, inode := holder(t, t.TempDir())
	c, err := Take(t.Context(), Options{Rung: RungProc})
	if err != nil {
		t.Fatal(err)
	}
	n, ok := c.At(inode)
	if !ok {
		t.Fatalf("mnt:[%d] of process %d is not there", inode, p.Pid)
	}
	now, err := c.Table(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	kept, ok := c.Kept(n)
	if !ok || kept.Len() != now.Len() {
		t.Errorf("kept %v of %d mounts", ok, now.Len())
	}
}
