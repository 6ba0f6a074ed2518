package pins

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mountward/mountward/pkg/facts"
)

func overlayOptions(lower, dir string) string {
	return fmt.Sprintf("lowerdir=%[1]s,upperdir=%[2]s/up,workdir=%[2]s/work", lower, dir)
}

// TestAnOverlayIsNotWhereItsPathLeadsNow: the upper directory is on a volume that
// was unmounted, and another volume, or a directory, is at its place.
func TestAnOverlayIsNotWhereItsPathLeadsNow(t *testing.T) {
	a, b := newVolume(t), newVolume(t)
	dir := filepath.Dir(a.dir)
	for _, d := range []string{dir + "/lower", a.dir + "/up", a.dir + "/work", b.dir + "/up"} {
		mkdir(t, d)
	}
	mountAt(t, "overlay", dir+"/over", "overlay", 0, overlayOptions(dir+"/lower", a.dir))
	a.unmount(t)
	withoutUdev := func(n *Node) { n.Host = noUUID{n.Host} }
	suspected := func(what string, v realVolume) {
		t.Helper()
		r := find(t, v.number.String(), withoutUdev)
		wantHolders(t, r)
		if r.Answer() != facts.Unknown || !strings.Contains(strings.Join(r.Suspects, "\n"), "at "+dir+"/over of mnt:[") {
			t.Errorf("%s: answer %v, suspects %q", what, r.Answer(), r.Suspects)
		}
		r = find(t, v.number.String(), func(n *Node) { n.Host = withUUID{n.Host, uuidOf(t, v.node), v.number} })
		wantHolders(t, r, "overlay-layer host 0 an overlay keeps its layer "+v.dir+"/up")
	}
	suspected("nothing is there", a)
	mkdir(t, a.dir+"/up")
	suspected("a directory below", a)
	if err := syscall.Mount(b.dir, a.dir, "", syscall.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	suspected("another volume", a)
	wantHolders(t, find(t, b.number.String(), withoutUdev), "mount host 0")
	// Of another volume that is not mounted it is known where the id is.
	for _, dir := range []string{a.dir, b.dir} {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Fatal(err)
		}
	}
	if r := find(t, b.number.String()); r.Answer() != facts.No || len(r.Suspects) != 0 {
		t.Errorf("a volume that is not alive: answer %v, suspects %q", r.Answer(), r.Suspects)
	}
}

// TestAnOverlayInAnotherNamespaceIsProvedThere, and named by what keeps it.
func TestAnOverlayInAnotherNamespaceIsProvedThere(t *testing.T) {
	v := newVolume(t)
	dir := filepath.Dir(v.dir)
	for _, d := range []string{dir + "/lower", v.dir + "/up", v.dir + "/work", dir + "/over"} {
		mkdir(t, d)
	}
	p := start(t, fmt.Sprintf("private overlay=%[1]s/lower:%[2]s/up:%[2]s/work:%[1]s/over umount=%[2]s", dir, v.dir))
	r := find(t, v.number.String())
	wantHolders(t, r, "mount host 0")
	p.End()
	p = start(t, fmt.Sprintf("private overlay=%[1]s/lower:%[2]s/up:%[2]s/work:%[1]s/over", dir, v.dir))
	r = find(t, v.number.String())
	wantHolders(t, r, "mount host 0", fmt.Sprintf("mount other %d", p.Pid), fmt.Sprintf("overlay-layer other %d", p.Pid))
	if why := r.Holders[2].Why; !strings.Contains(why, "both have the file handle") {
		t.Errorf("why %q", why)
	}
}

// TestATmpfsBelowAnOverlayIsNotCalledFree, and one that was never there is
// neither.
func TestATmpfsBelowAnOverlayIsNotCalledFree(t *testing.T) {
	dir := stage(t)
	mountAt(t, "mem", dir+"/mem", "tmpfs", 0, "")
	for _, d := range []string{"/lower", "/mem/up", "/mem/work"} {
		mkdir(t, dir+d)
	}
	mountAt(t, "overlay", dir+"/over", "overlay", 0, overlayOptions(dir+"/lower", dir+"/mem"))
	number := find(t, dir+"/mem").Target.Superblocks[0].Device.String()
	wantHolders(t, find(t, number), "mount host 0", "overlay-layer host 0")
	if err := syscall.Unmount(dir+"/mem", 0); err != nil {
		t.Fatal(err)
	}
	r := find(t, number)
	wantHolders(t, r)
	if r.Answer() != facts.Unknown || !strings.Contains(strings.Join(r.Suspects, "\n")+fmt.Sprint(r.Unknown), "over") {
		t.Errorf("answer %v, suspects %q, unknown %v", r.Answer(), r.Suspects, r.Unknown)
	}
}
