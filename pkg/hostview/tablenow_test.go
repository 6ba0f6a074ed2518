package hostview

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
)

func TestATableIsAtHandUntilTheKernelTellsOfAChange(t *testing.T) {
	dir := stage(t)
	v := openView(t, Options{})
	if table, ok := v.TableNow(); ok {
		t.Errorf("nobody has read one, but it has %d mounts", table.Len())
	}
	read, err := v.Table(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if now, ok := v.TableNow(); !ok || now != read {
			t.Errorf("at hand: %t, want the table that was read", ok)
		}
	}
	mount(t, "new", mkdir(t, dir+"/new"), "tmpfs", 0, "")
	// In the background it is read anew in a while; until then there is none.
	if now, ok := v.TableNow(); ok {
		if _, there := now.At(dir + "/new"); !there {
			t.Error("a stale table is at hand")
		}
	}
	if read, err = v.Table(context.Background()); err != nil {
		t.Fatal(err)
	}
	if now, ok := v.TableNow(); !ok || now != read {
		t.Errorf("at hand again: %t, want the table that was read", ok)
	}
	v.cache.drop()
	if _, ok := v.TableNow(); ok {
		t.Error("a table that was dropped is at hand")
	}
}

func TestThePlacesThatShowAPathOfASuperblock(t *testing.T) {
	const lines = root +
		"30 27 253:7 / /pods/a/vol rw - xfs /dev/x rw\n" +
		"31 27 253:7 / /plugins/globalmount rw - xfs /dev/x rw\n" +
		"32 27 253:7 /sub /pods/a/vol-2 rw - xfs /dev/x rw\n" +
		"33 30 253:7 /deep /pods/a/vol/deep rw - xfs /dev/x rw\n" +
		"34 27 253:7 / /hidden rw - xfs /dev/x rw\n" +
		"35 34 0:40 / /hidden rw - tmpfs t rw\n" +
		"36 27 253:8 / /other rw - xfs /dev/y rw\n"
	table, err := ReadTable(strings.NewReader(lines))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		root string
		most int
		want []string
		more bool
	}{
		{"/", 9, []string{"/pods/a/vol", "/plugins/globalmount", "/pods/a/vol-2", "/pods/a/vol/deep"}, false},
		{"/", 4, []string{"/pods/a/vol", "/plugins/globalmount", "/pods/a/vol-2", "/pods/a/vol/deep"}, false},
		{"/", 2, []string{"/pods/a/vol", "/plugins/globalmount"}, true},
		{"/sub", 9, []string{"/pods/a/vol-2"}, false},
		{"/su", 9, nil, false},
		{"/none", 0, nil, false},
	} {
		var got []string
		found, more := table.Showing(facts.Identity{Device: facts.DeviceNumber{Major: 253, Minor: 7}, Root: test.root}, test.most)
		for _, e := range found {
			got = append(got, e.MountPoint)
		}
		if diff := cmp.Diff(test.want, got); diff != "" || more != test.more {
			t.Errorf("%d of %s, more %t: %s", test.most, test.root, more, diff)
		}
	}
	if got, more := table.Showing(facts.Identity{Device: facts.DeviceNumber{Major: 253, Minor: 9}, Root: "/"}, 9); got != nil || more {
		t.Errorf("a device that nothing is mounted of: %+v", got)
	}
}
