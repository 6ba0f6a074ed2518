package exposure

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/target"
	"github.com/mountward/mountward/pkg/volumes"
)

// TestLayersOfAnOverlay: an upper directory is on a target where file handles
// prove it; what they disprove is not; of anything else it cannot be told, also
// where the name leads elsewhere now.
func TestLayersOfAnOverlay(t *testing.T) {
	const (
		images = "20 1 8:1 / / rw - ext4 /dev/sda1 rw\n21 20 253:9 / /c rw - xfs /dev/a rw\n22 20 253:8 / /other rw - xfs /dev/b rw\n"
		yes    = facts.Yes
		no     = facts.No
		unsure = facts.Unknown
	)
	on := func(minor uint32, verified facts.Truth, byHandle bool) *volumes.Upper {
		at := facts.HostMount{Device: dev(253, minor), Root: "/", MountPoint: "/c", Canonical: "/c/2/fs", FSType: "xfs"}
		return &volumes.Upper{Name: "/c/2/fs", At: at, Verified: facts.Answer{Truth: verified, Why: "as told"}, ByHandle: byHandle}
	}
	for name, test := range map[string]struct {
		root, options string // "": the root, with an upper directory and no other
		upper         *volumes.Upper
		differ        bool
		device        facts.DeviceNumber // of the target; zero: 253:9
		fsType        string
		want          []string
		unknown       string // "": all is known
	}{
		"proved":                                         {upper: on(9, yes, true), want: []string{"app /[2/fs] rootfs - rw own"}},
		"proved, a part of it":                           {root: "/etc", upper: on(9, yes, true), want: []string{"app /[2/fs/etc] rootfs - rw own"}},
		"proved elsewhere":                               {upper: on(8, yes, true)},
		"disproved of what it leads to":                  {upper: on(9, no, true)},
		"disproved of another":                           {upper: on(8, no, true), unknown: "its upper directory /c/2/fs is cannot be told: as told"},
		"leads nowhere":                                  {upper: &volumes.Upper{Name: "/c/2/fs", Verified: facts.CannotTell("no such file")}, unknown: "no such file"},
		"cannot be told of what it is on":                {upper: on(9, unsure, false), unknown: "as told"},
		"of an equal size":                               {upper: on(9, yes, false), unknown: "as told"},
		"of the size of another":                         {upper: on(8, yes, false), unknown: "as told"},
		"of the size of another only":                    {upper: on(8, yes, false), differ: true},
		"nothing that a layer can be on":                 {upper: on(8, no, true), device: dev(0, 4), fsType: "nsfs"},
		"lower layers beside the upper":                  {options: "rw,lowerdir=1/fs:/c/3/fs,upperdir=/c/2/fs", upper: on(8, yes, true), want: []string{"app /[1/fs] rootfs - ro own"}},
		"lower layers beside an unproved":                {options: "rw,lowerdir=/c/3/fs,upperdir=/c/2/fs", upper: on(9, no, true), unknown: "its lower layer /c/3/fs"},
		"lower layers beside one of the size of another": {options: "rw,lowerdir=/c/3/fs,upperdir=/c/2/fs", upper: on(8, yes, false), differ: true},
		"a lower layer elsewhere":                        {options: "rw,lowerdir=/c/low,upperdir=/c/2/fs", upper: on(8, yes, true), unknown: "its lower layer /c/low"},
		"lower layers elsewhere, and more":               {options: "rw,lowerdir+=/x/1/fs,datadir+=/d,upperdir=/c/2/fs", upper: on(9, yes, true), want: []string{"app /[2/fs] rootfs - rw own"}},
		"a relative one":                                 {options: "rw,lowerdir=a/b,upperdir=/c/2/fs", upper: on(8, yes, true), unknown: "its lower layer a/b"},
		"without an upper directory":                     {options: "ro,lowerdir=/c/1/fs:/c/2/fs", unknown: "its lower layer /c/1/fs"},
		"layers that are not told":                       {options: "rw", unknown: "its layers are not told"},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t, images)
			n.Differ = func(context.Context, string, []string) bool { return test.differ }
			if test.upper != nil {
				n.uppers = map[facts.DeviceNumber]volumes.Upper{dev(0, 90): *test.upper}
			}
			if test.device.IsZero() {
				test.device = dev(253, 9)
			}
			n.add(pod{inode: 201, uid: uidA, name: "app"},
				fmt.Sprintf("500 400 0:90 %s / rw - overlay overlay %s\n", cmp.Or(test.root, "/"), cmp.Or(test.options, "rw,upperdir=/c/2/fs,workdir=/c/2/work")))
			r := Find(t.Context(), n.Node, []target.Target{{Name: "it", Superblocks: []target.Superblock{{Device: test.device, FSType: test.fsType}}}})
			if diff := gocmp.Diff(test.want, told(r)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if test.unknown == "" != (len(r.Unknown) == 0) || len(r.Unknown) > 1 || len(r.Unknown) == 1 && !strings.Contains(r.Unknown[0].Why, test.unknown) {
				t.Errorf("unknown %v, want %q", r.Unknown, test.unknown)
			}
		})
	}
}

// TestManySuspectsAreNamedShortly: each overlay once, where it is the root of a
// container, and not all of them.
func TestManySuspectsAreNamedShortly(t *testing.T) {
	n := newNode(t)
	seen := "600 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
	for i := range maxSuspects + 4 {
		overlay := fmt.Sprintf("0:%d / %%s rw - overlay overlay rw,lowerdir=/low,upperdir=/s/%d/fs\n", 300+i, i)
		seen += fmt.Sprintf("%d 600 ", 700+i) + fmt.Sprintf(overlay, fmt.Sprint("/host/", i))
		n.add(pod{inode: uint64(1000 + i), uid: uidB, name: fmt.Sprint("c", i)}, "500 400 "+fmt.Sprintf(overlay, "/"))
	}
	n.uppers = map[facts.DeviceNumber]volumes.Upper{}
	for i := range uint32(maxSuspects + 4) {
		n.uppers[dev(0, 300+i)] = volumes.Upper{Name: "/s", Verified: facts.CannotTell("old kernel")}
	}
	n.add(agent(), seen)
	r := Find(t.Context(), n.Node, []target.Target{pvc1})
	if len(r.Unknown) != maxSuspects+1 || !strings.Contains(r.Unknown[maxSuspects].What, "by 4 more overlays") || r.Reached() {
		t.Errorf("%d unknown, reached %v: %v", len(r.Unknown), r.Reached(), r.Unknown)
	}
	for _, u := range r.Unknown[:min(maxSuspects, len(r.Unknown))] {
		if !strings.Contains(u.What, "the overlay at / of container c") {
			t.Error(u.What)
		}
	}
}

// TestOneLowerLayerStandsForAll that nobody can prove, and nothing can be written
// to.
func TestOneLowerLayerStandsForAll(t *testing.T) {
	n := newNode(t)
	for i := range 3 {
		n.add(pod{inode: uint64(1000 + i), uid: uidB, name: fmt.Sprint("c", i)}, fmt.Sprintf("500 400 0:%d / / rw - overlay overlay rw,lowerdir=/low,upperdir=/s/1/fs\n", 300+i))
	}
	r := Find(t.Context(), n.Node, []target.Target{pvc1})
	if len(r.Unknown) != 2 || !strings.Contains(r.Unknown[1].What, "by 2 more overlays") {
		t.Errorf("%v", r.Unknown)
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
