package hostview

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"
)

// hungMount mounts a FUSE file system whose server never answers. Closing its
// descriptor aborts the connection, so that everything stuck comes back: abort
// does, and the end of the test.
func hungMount(t *testing.T, dir string) (abort func()) {
	t.Helper()
	fd, err := syscall.Open("/dev/fuse", syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("needs root with /dev/fuse: a file system that hangs")
	}
	if err != nil {
		t.Fatal(err)
	}
	abort = sync.OnceFunc(func() { _ = syscall.Close(fd) })
	t.Cleanup(func() {
		abort()
		detach(t, dir)
	})
	mount(t, "hung", dir, "fuse.dead", 0, fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0", fd))
	return abort
}

func threads(t *testing.T) int {
	t.Helper()
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	return len(tasks)
}

func within(t *testing.T, limit time.Duration, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); do() }()
	select {
	case <-done:
	case <-time.After(limit):
		t.Fatalf("%s hangs", what)
	}
}

func TestAHungFileSystemIsCannotTell(t *testing.T) {
	for _, rung := range []string{RungStatmount, RungMountinfo} {
		t.Run(rung, func(t *testing.T) {
			dir := stage(t)
			hungMount(t, mkdir(t, dir+"/hung"))
			mkdir(t, dir+"/fine/deep")
			for link, target := range map[string]string{"direct": dir + "/hung/child", "relative": "fine/../hung/child"} {
				if err := os.Symlink(target, dir+"/"+link); err != nil {
					t.Fatal(err)
				}
			}
			v := openView(t, Options{Rung: rung, Wait: DefaultWait})
			ctx := context.Background()
			within(t, 20*time.Second, "lookup of the mount point", func() {
				m, err := v.Lookup(ctx, dir+"/hung")
				if err != nil || m.FSType != "fuse.dead" || m.MountPoint != dir+"/hung" {
					t.Errorf("mount point: %+v %v", m, err)
				}
			})
			before := threads(t)
			within(t, 20*time.Second, "lookup of a child", func() {
				for i := range 32 {
					for _, p := range []string{fmt.Sprintf("/hung/child%d", i), "/direct", "/relative/x", "/hung/../hung/y"} {
						var cannot *CannotTell
						if m, err := v.Lookup(ctx, dir+p); !errors.As(err, &cannot) {
							t.Errorf("%s: %+v %v, want cannot tell", p, m, err)
						}
					}
				}
			})
			if n := threads(t) - before; n > 8 {
				t.Errorf("%d more threads after 128 lookups", n)
			}
			if n := stay(t, v, 1); n != 1 {
				t.Errorf("%d helpers are stuck in one mount, want 1", n)
			}
			if m, err := v.Lookup(ctx, dir+"/fine/deep"); err != nil || m.MountPoint != dir {
				t.Errorf("beside it: %+v %v", m, err)
			}
		})
	}
}

func TestAHelperThatComesBackFreesItsSlot(t *testing.T) {
	w := newWalker(nil, 0, 0)
	var all []*helper
	for range maxHelpers {
		h, err := w.begin()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, h)
	}
	if _, err := w.begin(); !errors.Is(err, errHelpers) {
		t.Fatalf("one too many: %v", err)
	}
	h := all[0]
	if err := w.enter(h, 7); err != nil {
		t.Fatal(err)
	}
	if err := w.enter(all[1], 7); err != nil {
		t.Errorf("a helper that is waited for: %v, want no objection", err)
	}
	if _, back := w.abandon(h); back {
		t.Fatal("a helper that did not come back came back")
	}
	if err := w.enter(all[1], 7); !errors.Is(err, errStuck) {
		t.Errorf("a mount with a stuck helper: %v", err)
	}
	if err := w.enter(all[1], 8); err != nil {
		t.Errorf("another mount: %v", err)
	}
	f, err := os.Open("/")
	if err != nil {
		t.Fatal(err)
	}
	w.finish(h, outcome{value: f})
	if err := f.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("the file nobody waits for was not closed: %v", err)
	}
	if err := w.enter(all[1], 7); err != nil {
		t.Errorf("the mount that answers again: %v", err)
	}
	if _, err := w.begin(); err != nil {
		t.Errorf("the free slot: %v", err)
	}
	w.finish(all[2], outcome{err: errStuck})
	if r, back := w.abandon(all[2]); !back || !errors.Is(r.err, errStuck) {
		t.Errorf("a helper that came back just now: %+v %v", r, back)
	}
}

// TestAPatientViewWaitsForWhatAnotherLeftBehind: it is told of a mount only that
// is stuck for as long as it would wait itself, and leaves helpers to others.
func TestAPatientViewWaitsForWhatAnotherLeftBehind(t *testing.T) {
	quick := newWalker(nil, 0, time.Nanosecond)
	patient := (&View{walker: quick}).Patient(time.Hour).walker
	left, err := quick.begin()
	if err != nil {
		t.Fatal(err)
	}
	if err := quick.enter(left, 7); err != nil {
		t.Fatal(err)
	}
	quick.abandon(left)
	time.Sleep(time.Millisecond)
	for name, test := range map[string]struct {
		w    *walker
		want error
	}{"quick": {quick, errStuck}, "patient": {patient, nil}} {
		h, err := test.w.begin()
		if err != nil {
			t.Fatal(err)
		}
		if err := test.w.enter(h, 7); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
		test.w.finish(h, outcome{})
	}
	left.began = left.began.Add(-2 * time.Hour)
	h, err := patient.begin()
	if err != nil {
		t.Fatal(err)
	}
	if err := patient.enter(h, 7); !errors.Is(err, errStuck) {
		t.Errorf("patient, of a mount that is stuck for long: %v", err)
	}
	for patient.most > len(patient.helpers) {
		if _, err := patient.begin(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := patient.begin(); !errors.Is(err, errHelpers) {
		t.Errorf("one too many of a patient view: %v", err)
	}
	if _, err := quick.begin(); err != nil {
		t.Errorf("none is left for a start: %v", err)
	}
}

func TestAColdPathIsWalkedByAHelper(t *testing.T) {
	dir := stage(t)
	mkdir(t, dir+"/a/b")
	mkdir(t, dir+"/c")
	for link, target := range map[string]string{"a/abs": dir + "/c", "a/b/rel": "../../c", "a/up": "/../../" + dir + "/a/..", "loop": "loop", "none": "absent"} {
		if err := os.Symlink(target, dir+"/"+link); err != nil {
			t.Fatal(err)
		}
	}
	for _, root := range []string{"", "/"} {
		w := newWalker(nil, 0, DefaultWait)
		if root != "" {
			f, err := os.Open(root)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			w.root = f
		}
		for p, want := range map[string]string{
			"/a": "/a", "/a/abs": "/c", "//a/./b/rel/": "/c", "/a/up/c": "/c", "/a/b/../../c": "/c",
			"/../.." + dir + "/a": "!", "/loop": "!", "/none": "!", "/a/absent": "!",
		} {
			h, err := w.begin()
			if err != nil {
				t.Fatal(err)
			}
			f, err := w.walk(h, dir+p)
			w.finish(h, outcome{err: err})
			if want == "!" {
				if err == nil {
					t.Errorf("%s opened", p)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", p, err)
				continue
			}
			if got, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd())); got != dir+want {
				t.Errorf("%s leads to %s, want %s", p, got, dir+want)
			}
			_ = f.Close()
		}
	}
}

// stay returns how many helpers are stuck, once they are no more than most: on a
// busy machine one is left behind before it comes to its mount, which then does
// not let it in.
func stay(t *testing.T, v *View, most int) int {
	t.Helper()
	within(t, 20*time.Second, "coming back", func() {
		for v.walker.stuck() > most {
			time.Sleep(time.Millisecond)
		}
	})
	return v.walker.stuck()
}

func (w *walker) stuck() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for h := range w.helpers {
		if h.abandoned {
			n++
		}
	}
	return n
}
