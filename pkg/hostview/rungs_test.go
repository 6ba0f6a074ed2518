package hostview

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mountward/mountward/pkg/facts"
)

// randomMounts makes n mounts of all kinds below dir and returns paths that
// lead to them in all kinds of ways.
func randomMounts(t *testing.T, dir string, n int, rng *rand.Rand) []string {
	t.Helper()
	propagation := []uintptr{syscall.MS_PRIVATE, syscall.MS_SHARED, syscall.MS_SLAVE, syscall.MS_UNBINDABLE, 0}
	places := []string{dir}
	var paths []string
	for i := range n {
		at := places[rng.IntN(len(places))]
		name := []string{"d%d", "with space %d", "tab\t%d", "back\\slash%d", "bytes\xff\xfe%d", "hash#%d", "line\nbreak%d"}[rng.IntN(7)]
		target := mkdir(t, fmt.Sprintf("%s/"+name, at, i))
		mkdir(t, target+"/sub")
		var err error
		writable := true
		switch rng.IntN(4) {
		case 0:
			err = syscall.Mount("vol ume", target, "tmpfs", 0, "size=1m")
			mkdir(t, target+"/in/side")
			paths = append(paths, target+"/in/side")
		case 1:
			err = syscall.Mount(at, target, "", syscall.MS_BIND, "")
		case 2:
			err = syscall.Mount(target+"/sub", target, "", syscall.MS_BIND, "")
			if err == nil { // a stack, topmost of another kind
				err, writable = syscall.Mount("top", target, "tmpfs", syscall.MS_RDONLY, ""), false
			}
		case 3:
			if e := os.Symlink(target, target+".link"); e != nil {
				t.Fatal(e)
			}
			paths = append(paths, target+".link/sub", target+".link/../"+target[strings.LastIndexByte(target, '/')+1:])
		}
		if err != nil && !errors.Is(err, syscall.EINVAL) { // a bind of an unbindable mount
			t.Fatalf("mount %s: %v", target, err)
		}
		if p := propagation[rng.IntN(len(propagation))]; p != 0 && err == nil {
			if err := syscall.Mount("", target, "", p, ""); err != nil && !errors.Is(err, syscall.EINVAL) {
				t.Fatalf("propagation of %s: %v", target, err)
			}
		}
		if writable && len(target) < 900 {
			places = append(places, target)
		}
		paths = append(paths, target, target+"/sub")
	}
	return paths
}

func TestBothRungsTellTheSameOfLiveMounts(t *testing.T) {
	dir := stage(t)
	mount(t, "", dir, "", syscall.MS_SHARED, "")
	paths := randomMounts(t, dir, 400, rand.New(rand.NewPCG(1, 2)))
	upper, lower := openView(t, Options{Rung: RungStatmount}), openView(t, Options{Rung: RungMountinfo})
	ctx := context.Background()
	found, missing := 0, 0
	for _, p := range append(paths, "/", "/proc", "/proc/self/..", "/proc/..", "/dev/null") {
		a, errA := upper.Lookup(ctx, p)
		b, errB := lower.Lookup(ctx, p)
		if (errA == nil) != (errB == nil) {
			t.Errorf("%q: %s says %v, %s says %v", p, RungStatmount, errA, RungMountinfo, errB)
			continue
		}
		if errA != nil {
			missing++
			if !errors.Is(errA, fs.ErrNotExist) {
				t.Errorf("%q: %v", p, errA)
			}
			continue
		}
		found++
		ignore := cmpopts.IgnoreFields(facts.HostMount{}, "MountID", "Rung")
		if diff := cmp.Diff(a, b, ignore); diff != "" {
			t.Errorf("%q: statmount (-) and mountinfo (+) differ:\n%s", p, diff)
		}
		table, err := lower.Table(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := table.Covering(a.Canonical); !ok || uint64(e.ID) != b.MountID {
			t.Errorf("%q: the table says mount %d covers %q, the kernel says %d", p, e.ID, a.Canonical, b.MountID)
		}
		if resolved := evaluate(t, p); resolved != a.Canonical {
			t.Errorf("%q: canonical form %q, want %q", p, a.Canonical, resolved)
		}
	}
	t.Logf("%d paths found, %d covered by other mounts", found, missing)
	if found < 300 {
		t.Errorf("only %d paths compared", found)
	}
}

// evaluate resolves a path with the kernel's help alone.
func evaluate(t *testing.T, path string) string {
	t.Helper()
	fd, err := syscall.Open(path, 0o10000000|syscall.O_CLOEXEC, 0) // O_PATH
	if err != nil {
		t.Fatalf("open %q: %v", path, err)
	}
	defer syscall.Close(fd)
	resolved, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

func TestLookupFollowsWhatHappensToAPath(t *testing.T) {
	for _, rung := range []string{RungStatmount, RungMountinfo} {
		t.Run(rung, func(t *testing.T) {
			dir := stage(t)
			v := openView(t, Options{Rung: rung})
			ctx := context.Background()
			look := func() facts.HostMount {
				t.Helper()
				m, err := v.Lookup(ctx, dir+"/a")
				if err != nil {
					t.Fatal(err)
				}
				return m
			}
			if _, err := v.Lookup(ctx, dir+"/a"); !errors.Is(err, fs.ErrNotExist) {
				t.Fatalf("missing path: %v, want no such file", err)
			}
			mkdir(t, dir+"/a")
			before := look()
			if before.MountPoint != dir || before.State.Shared() {
				t.Fatalf("plain directory: %+v", before)
			}
			mount(t, "vol", dir+"/a", "tmpfs", 0, "")
			first := look()
			if first.MountPoint != dir+"/a" || first.Device == before.Device || first.Source != "vol" {
				t.Fatalf("mounted: %+v", first)
			}
			mount(t, "", dir+"/a", "", syscall.MS_SHARED, "")
			if rung == RungStatmount && !look().State.Shared() {
				t.Fatal("a change of propagation is not seen")
			}
			mount(t, "top", dir+"/a", "tmpfs", 0, "")
			if top := look(); top.Device == first.Device || top.FSType != "tmpfs" {
				t.Fatalf("overmounted: %+v", top)
			}
			if err := syscall.Unmount(dir+"/a", 0); err != nil {
				t.Fatal(err)
			}
			if again := look(); again.Device != first.Device || !again.State.Shared() {
				t.Fatalf("uncovered: %+v", again)
			}
		})
	}
}

func TestRecheckSeesPropagationOfAHiddenMount(t *testing.T) {
	for _, rung := range []string{RungStatmount, RungMountinfo} {
		t.Run(rung, func(t *testing.T) {
			dir := stage(t)
			v := openView(t, Options{Rung: rung})
			ctx := context.Background()
			mount(t, "bottom", mkdir(t, dir+"/a"), "tmpfs", 0, "")
			table, err := v.Reread(ctx)
			if err != nil {
				t.Fatal(err)
			}
			bottom, ok := table.At(dir + "/a")
			if !ok || bottom.State.Shared() {
				t.Fatalf("bottom: %+v %v", bottom, ok)
			}
			mount(t, "", dir+"/a", "", syscall.MS_SHARED, "")
			mount(t, "middle", dir+"/a", "tmpfs", 0, "")
			mount(t, "top", dir+"/a", "tmpfs", 0, "")
			now, err := v.Recheck(ctx, bottom)
			if err != nil || !now.State.Shared() {
				t.Errorf("hidden mount: %+v %v, want shared", now, err)
			}
			for range 3 {
				if err := syscall.Unmount(dir+"/a", 0); err != nil {
					t.Fatal(err)
				}
			}
			var cannot *CannotTell
			if _, err := v.Recheck(ctx, bottom); !errors.As(err, &cannot) {
				t.Errorf("unmounted: %v, want cannot tell", err)
			}
		})
	}
}

// TestAFileIsToldFromADirectory: nothing can be mounted below a file.
func TestAFileIsToldFromADirectory(t *testing.T) {
	dir := stage(t)
	file := dir + "/file"
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	mount(t, file, file, "", syscall.MS_BIND, "")
	if err := os.Symlink(file, dir+"/link"); err != nil {
		t.Fatal(err)
	}
	for _, rung := range []string{RungStatmount, RungMountinfo} {
		v := openView(t, Options{Rung: rung})
		for path, want := range map[string]bool{dir: false, file: true, dir + "/link": true, "/proc": false, "/proc/version": true} {
			if m, err := v.Lookup(t.Context(), path); err != nil || m.File != want {
				t.Errorf("%s: %s is a file: %v, %v; want %v", rung, path, m.File, err, want)
			}
		}
	}
}

func TestLookupRefusesWhatIsNoHostPath(t *testing.T) {
	v := openView(t, Options{})
	for _, p := range []string{"", "a", "./a", "a\x00b", "/a\x00b", "/proc/self/fd/0/x", "/proc/self/cwd", strings.Repeat("/x", 5000)} {
		var cannot *CannotTell
		m, err := v.Lookup(context.Background(), p)
		if !errors.As(err, &cannot) || cannot.Path != p || cannot.Why == "" {
			t.Errorf("%.40q: %+v %v, want cannot tell", p, m, err)
		}
	}
}

// Of what a symbolic link leads to only the kernel knows the path, and its mark
// of a removed file can be a name as well. Without a link there is no doubt.
func TestARemovedDirectoryIsNoAnswer(t *testing.T) {
	dir := stage(t)
	v := openView(t, Options{})
	odd := mkdir(t, dir+"/x (deleted)")
	if err := os.Symlink(odd, dir+"/link"); err != nil {
		t.Fatal(err)
	}
	var cannot *CannotTell
	if m, err := v.Lookup(context.Background(), dir+"/link"); !errors.As(err, &cannot) {
		t.Errorf("%+v %v, want cannot tell", m, err)
	}
	for _, p := range []string{odd, odd + "/", odd + "/../x (deleted)/."} {
		if m, err := v.Lookup(context.Background(), p); err != nil || m.Canonical != odd {
			t.Errorf("%q: %+v %v, want %s", p, m, err, odd)
		}
	}
}
