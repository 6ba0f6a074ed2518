package exposure

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

func TestLayersOfAnOverlay(t *testing.T) {
	host, err := hostview.ReadTable(strings.NewReader(lines(
		"20 1 8:1 / / rw - ext4 /dev/sda1 rw",
		"21 20 253:9 /c /var/lib/c rw - xfs /dev/x rw")))
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		root, options string
		want          []string
		relative      int
	}{
		"upper and lower":         {"/", "rw,lowerdir=/var/lib/c/1:/l,upperdir=/var/lib/c/2,workdir=/w", []string{"253:9 /c/2 upper", "253:9 /c/1", "8:1 /l"}, 0},
		"a part of it":            {"/etc", "rw,upperdir=/u", []string{"8:1 /u/etc upper"}, 0},
		"layers named one by one": {"/", "rw,lowerdir+=/a:b,datadir+=/d", []string{"8:1 /a:b", "8:1 /d"}, 0},
		"escapes":                 {"/", `rw,lowerdir=/a\134:b:/c\040d,upperdir=/e\134\054f`, []string{"8:1 /e,f upper", "8:1 /a:b", "8:1 /c d"}, 0},
		"relative to snapshots":   {"/", "rw,lowerdir=1/fs:2/fs,upperdir=/s/3/fs", []string{"8:1 /s/3/fs upper", "8:1 /s/1/fs", "8:1 /s/2/fs"}, 0},
		"relative to nothing":     {"/", "rw,lowerdir=1/fs:../x,upperdir=/s/3/other", []string{"8:1 /s/3/other upper"}, 2},
	} {
		all, relative := layersOf(hostview.Entry{FSType: "overlay", Root: test.root, SuperOptions: test.options}, host)
		var got []string
		for _, l := range all {
			s := l.at.Device.String() + " " + l.at.Root
			if l.upper {
				s += " upper"
			}
			got = append(got, s)
		}
		if diff := cmp.Diff(test.want, got); diff != "" || relative != test.relative {
			t.Errorf("%s: %d relative (-want +got):\n%s", name, relative, diff)
		}
	}
}

// FuzzPlaceOf: where something is found is below the mount, and that mount is
// what its path leads to.
func FuzzPlaceOf(f *testing.F) {
	f.Add("/srv", "/srv/data")
	f.Add("/srv/data//deleted", "/srv")
	f.Add("/", "/")
	f.Add("net:[1]", "net:[1]")
	f.Fuzz(func(t *testing.T, root, wanted string) {
		e := hostview.Entry{ID: 2, Root: root, MountPoint: "/m"}
		table, err := hostview.ReadTable(strings.NewReader("1 0 8:1 / / rw - ext4 x rw\n2 1 8:2 / /m rw - ext4 y rw\n3 2 8:3 / /m/over rw - ext4 z rw\n"))
		if err != nil {
			t.Fatal(err)
		}
		p, ok := placeOf(table, e, root, wanted)
		if !ok {
			return
		}
		if covering, found := table.Covering(p.path); !found || covering.ID != 2 || !facts.Within(p.path, "/m") {
			t.Errorf("mount of %q: %q is at %q, which is not on it", root, wanted, p.path)
		}
	})
}
