package exposure

import (
	"context"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/internal/linux/linuxtest"
)

func openIn(c *child, n Node, t *testing.T, path string) ([]string, Report) {
	t.Helper()
	r := Find(context.Background(), n, targetOf(t, path, c))
	return reached(r, c), r
}

// TestAnOpenDirectoryOutlivesALazyUnmount: the child reaches the volume by it,
// until it is closed; of a path in it that cannot be told.
func TestAnOpenDirectoryOutlivesALazyUnmount(t *testing.T) {
	dir := tree(t)
	if err := os.Mkdir(dir+"/vol/up", 0o755); err != nil {
		t.Fatal(err)
	}
	c := start(t)
	c.must("private", dir)
	c.must("open", dir+"/vol/up")
	c.must("lazy", dir+"/vol")
	n := realNode(t, c)
	got, _ := openIn(c, n, t, dir+"/vol")
	if diff := cmp.Diff([]string{"/up open-directory  ?"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got, r := openIn(c, n, t, dir+"/vol/up")
	if len(got) > 0 || r.Reached() || len(r.Unknown) != 1 || !strings.Contains(r.Unknown[0].Why, "fd/") {
		t.Errorf("a path in it: %q, unknown %v", got, r.Unknown)
	}
	c.must("close")
	if got, r := openIn(c, n, t, dir+"/vol"); len(got) > 0 || len(r.Unknown) > 0 {
		t.Errorf("closed: %q, unknown %v", got, r.Unknown)
	}
	if got, r := openIn(c, n, t, dir+"/vol/up"); len(got) > 0 || len(r.Unknown) > 0 {
		t.Errorf("closed, a path in it: %q, unknown %v", got, r.Unknown)
	}
}

// TestAWorkingDirectoryOutlivesALazyUnmount as well.
func TestAWorkingDirectoryOutlivesALazyUnmount(t *testing.T) {
	dir := tree(t)
	c := start(t)
	c.must("private", dir)
	c.must("chdir", dir+"/vol")
	c.must("lazy", dir+"/vol")
	n := realNode(t, c)
	if got, _ := openIn(c, n, t, dir+"/vol"); !cmp.Equal([]string{"/ open-directory  ?"}, got) {
		t.Errorf("%q", got)
	}
	c.must("chdir", "/")
	if got, r := openIn(c, n, t, dir+"/vol"); len(got) > 0 || len(r.Unknown) > 0 {
		t.Errorf("after it left: %q, unknown %v", got, r.Unknown)
	}
}

// TestASubvolumeOfALazilyUnmountedBtrfs has a number of its own: of which btrfs
// it is cannot be told, and that is said of a btrfs, and of nothing else.
func TestASubvolumeOfALazilyUnmountedBtrfs(t *testing.T) {
	dir := tree(t)
	if err := syscall.Mount(linuxtest.Btrfs(t, 1)[0], dir+"/token", "btrfs", 0, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir+"/token", syscall.MNT_DETACH) })
	linuxtest.Subvolume(t, dir+"/token", "sub")
	c := start(t)
	c.must("private", dir)
	c.must("open", dir+"/token/sub")
	n := realNode(t, c)
	if got, r := openIn(c, n, t, dir+"/token"); len(got) != 1 || len(r.Unknown) > 0 {
		t.Errorf("mounted: %q, unknown %v", got, r.Unknown)
	}
	c.must("lazy", dir+"/token")
	got, r := openIn(c, n, t, dir+"/token")
	if len(got) > 0 || len(r.Unknown) != 1 || !suspected(r, "on which one is not told") {
		t.Errorf("%q, unknown %v", got, r.Unknown)
	}
	if _, r := openIn(c, n, t, dir+"/vol"); len(r.Unknown) > 0 {
		t.Errorf("another file system: unknown %v", r.Unknown)
	}
	c.must("close")
	if got, r := openIn(c, n, t, dir+"/token"); len(got) > 0 || len(r.Unknown) > 0 {
		t.Errorf("closed: %q, unknown %v", got, r.Unknown)
	}
}

// TestAThreadThatHasLeftItsProcess stands where that does not.
func TestAThreadThatHasLeftItsProcess(t *testing.T) {
	dir := tree(t)
	c := start(t)
	c.must("private", dir)
	n := realNode(t, c)
	c.must("thread", dir+"/vol")
	c.must("lazy", dir+"/vol")
	r := Find(t.Context(), n, targetOf(t, dir+"/vol", c))
	if got := reached(r, c); !cmp.Equal([]string{"/ open-directory  ?"}, got) {
		t.Fatalf("%q, unknown %v", got, r.Unknown)
	}
	for _, v := range r.Viewers {
		if v.Paths[0].Through.Kind == ThroughOpenDirectory && !strings.Contains(v.Paths[0].Evidence[0].Show, "/task/") {
			t.Errorf("evidence %+v", v.Paths[0].Evidence)
		}
	}
}

// TestADescriptorOfTheNodesMount that came into a namespace without it: all that
// is in it is reached, and by ".." what the node has beside it.
func TestADescriptorOfTheNodesMount(t *testing.T) {
	dir := tree(t)
	f, err := os.Open(dir + "/vol")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c := start(t, f)
	c.must("private", dir)
	c.must("lazy", dir)
	n := realNode(t, c)
	for _, path := range []string{dir + "/vol", dir + "/token"} {
		if got, _ := openIn(c, n, t, path); !cmp.Equal([]string{dir + "/vol open-directory  rw"}, got) {
			t.Errorf("%s: %q", path, got)
		}
	}
	c.must("write", "/proc/self/fd/3/../token/file")
	if _, err := os.Stat(dir + "/token/file"); err != nil {
		t.Error(err)
	}
	other := start(t)
	other.must("private", dir)
	other.must("lazy", dir)
	if got, r := openIn(other, realNode(t, other), t, dir+"/token"); len(got) > 0 || len(r.Unknown) > 0 {
		t.Errorf("without the descriptor: %q, unknown %v", got, r.Unknown)
	}
}

// remounts are what is told of the child's read-only paths.
func remounts(r Report, c *child) (all []string) {
	for _, v := range r.Viewers {
		for _, p := range v.Paths {
			if len(v.PIDs) == 1 && v.PIDs[0] == c.pid && p.Remount != nil {
				all = append(all, p.Remount.Truth.String())
			}
		}
	}
	return all
}

// TestAReadOnlyMountIsRemounted by who is told to be able to, and not by who is
// in another user namespace, of whom it cannot be told.
func TestAReadOnlyMountIsRemounted(t *testing.T) {
	dir := tree(t)
	c := start(t)
	c.must("private", dir)
	c.must("readonly", dir+"/vol")
	n := realNode(t, c)
	if got := remounts(Find(t.Context(), n, targetOf(t, dir+"/vol", c)), c); !cmp.Equal([]string{"yes"}, got) {
		t.Errorf("told %q", got)
	}
	c.must("writable", dir+"/vol")
	c.must("write", dir+"/vol/file")
	if got := remounts(Find(t.Context(), n, targetOf(t, dir+"/vol", c)), c); len(got) > 0 {
		t.Errorf("what is writable: told %q", got)
	}
	if err := syscall.Mount("", dir+"/vol", "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	all := []syscall.SysProcIDMap{{Size: 1 << 16}}
	inside := startAs(t, &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWUSER, UidMappings: all, GidMappings: all})
	n = realNode(t, inside)
	if got := remounts(Find(t.Context(), n, targetOf(t, dir+"/vol", inside)), inside); !cmp.Equal([]string{"unknown"}, got) {
		t.Errorf("in a user namespace: told %q", got)
	}
	if got := inside.do("writable", dir+"/vol"); !strings.Contains(got, "not permitted") {
		t.Errorf("in a user namespace: %s", got)
	}
}

// TestAnOverlayIsOnWhatIsProved: the child's overlay has its upper directory on
// a volume that the child has unmounted. When the host has put another in its
// place, that one is not accused and it cannot be told of the first.
func TestAnOverlayIsOnWhatIsProved(t *testing.T) {
	dir, in := tree(t), inside(t)
	for _, sub := range []string{"up", "work"} {
		if err := os.Mkdir(dir+"/vol/"+sub, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c := start(t)
	c.must("private", dir)
	c.must("overlay", dir+"/inside", dir+"/vol/up", dir+"/vol/work", in)
	c.must("umount", dir+"/vol")
	node := func() Node {
		view, err := hostview.Open(hostview.Options{Wait: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = view.Close() })
		n := realNode(t, c)
		n.Upper, n.Differ = Uppers("/proc", view, time.Second), Sizes(view)
		return n
	}
	first := targetOf(t, dir+"/vol", c)
	r := Find(t.Context(), node(), first)
	if diff := cmp.Diff([]string{in + " not-asked  rw"}, reached(r, c)); diff != "" || len(r.Unknown) > 0 {
		t.Errorf("proved (-want +got):\n%s\nunknown %v", diff, r.Unknown)
	}
	if err := syscall.Unmount(dir+"/vol", 0); err != nil {
		t.Fatal(err)
	}
	mount(t, dir+"/vol")
	if err := os.Mkdir(dir+"/vol/up", 0o755); err != nil {
		t.Fatal(err)
	}
	c.must("write", in+"/file") // onto the first
	second := targetOf(t, dir+"/vol", c)
	r = Find(t.Context(), node(), first)
	if got := reached(r, c); len(got) > 0 || !suspected(r, "upper directory "+dir+"/vol/up") {
		t.Errorf("the first: %q, unknown %v", got, r.Unknown)
	}
	r = Find(t.Context(), node(), second)
	for _, got := range reached(r, c) {
		if strings.HasPrefix(got, in) {
			t.Errorf("the second is accused: %q", got)
		}
	}
}

func suspected(r Report, why string) bool {
	for _, u := range r.Unknown {
		if strings.Contains(u.Why, why) {
			return true
		}
	}
	return false
}

// TestAMountBelowADirectoryThatAnotherNamespaceHasAlone.
func TestAMountBelowADirectoryThatAnotherNamespaceHasAlone(t *testing.T) {
	dir, in := tree(t), inside(t)
	c := start(t)
	c.must("private", dir)
	c.must("bind", dir+"/vol", in)
	c.must("private", in)
	c.must("umount", dir+"/vol")
	c.must("umount", dir)
	n := realNode(t, c)
	r := Find(t.Context(), n, targetOf(t, dir, c))
	if diff := cmp.Diff([]string{in + " not-asked  rw"}, reached(r, c)); diff != "" || r.Below != 1 {
		t.Errorf("%d below (-want +got):\n%s", r.Below, diff)
	}
	c.must("umount", in)
	if r := Find(t.Context(), n, targetOf(t, dir, c)); r.Reached() {
		t.Errorf("unmounted: %q", reached(r, c))
	}
}
