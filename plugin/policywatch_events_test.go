package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// TestWithoutEventsFilesAreStillFollowed: as where the kernel has no watch left,
// or a file system tells of nothing.
func TestWithoutEventsFilesAreStillFollowed(t *testing.T) {
	n := apart(t)
	d := n.daemon()
	d.start("")
	w := d.policyWatch()
	w.settle, w.every = time.Millisecond, 10*time.Millisecond
	w.open = func() (*fsnotify.Watcher, error) { return nil, syscall.EMFILE }
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() { d.reloadWhenAsked(ctx, nil, d.loadPolicy) })
	work.Go(func() { w.run(ctx) })
	t.Cleanup(func() { cancel(); work.Wait() })
	n.drop("10-a.toml", aRule("a"))
	d.decides(t, "a")
	const said = `"changes of the policy files are found every 10s only: too many open files"`
	if text := n.text(d); strings.Count(text, said) != 1 {
		t.Errorf("the trail does not say once %s:\n%s", said, text)
	}
}

// TestADirectoryThatIsMovedAwayAndRemovedIsFollowed: of that the kernel's reader
// makes an error, and gives it away with its lock held. Who looks must not wait for
// the lock then, and hang for ever.
func TestADirectoryThatIsMovedAwayAndRemovedIsFollowed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "etc")
	ctx, cancel := context.WithCancel(t.Context())
	looked := make(chan struct{})
	w := &policyWatch{
		dirs: []string{dir}, settle: time.Millisecond, every: time.Millisecond,
		look: func() (string, bool) {
			select {
			case looked <- struct{}{}:
			case <-ctx.Done():
			}
			return "A", true
		},
		loaded: func() string { return "A" },
		warn:   func(err error) { t.Error(err) },
		open:   fsnotify.NewWatcher,
	}
	defer cancel()
	over := make(chan struct{})
	go func() { w.run(ctx); close(over) }()
	for range 100 {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second one has begun when the directory was there
			select {
			case <-looked:
			case <-time.After(patience):
				t.Fatal("nobody looks any more")
			}
		}
		if err := os.Rename(dir, dir+"-old"); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(dir + "-old"); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	<-over
}

// TestWhatALinkLedToIsNoLongerWatched: the kernel tells how much it watches for us.
func TestWhatALinkLedToIsNoLongerWatched(t *testing.T) {
	kernel, err := fsnotify.NewWatcher()
	if err != nil {
		t.Fatal(err)
	}
	defer kernel.Close()
	watches := func() (n int) {
		fds, err := filepath.Glob("/proc/self/fdinfo/*")
		if err != nil {
			t.Fatal(err)
		}
		for _, fd := range fds {
			text, _ := os.ReadFile(fd) // that of the glob is closed
			n += strings.Count(string(text), "inotify wd:")
		}
		return n
	}
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	w := &policyWatch{dirs: []string{link}, kernel: kernel, warn: func(err error) { t.Error(err) }}
	before := watches()
	for _, to := range []string{"a", "a", "b"} {
		if err := os.MkdirAll(filepath.Join(dir, to), 0o755); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(link) // there is none yet
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
		w.follow()
		if got := watches() - before; got != 1 {
			t.Errorf("%d directories are watched where the link leads to %s, want 1", got, to)
		}
	}
}

// TestThatTheKernelTellsOfNothingIsSaidOnce, and a directory that is not there is no
// such thing.
func TestThatTheKernelTellsOfNothingIsSaidOnce(t *testing.T) {
	kernel, err := fsnotify.NewWatcher()
	if err != nil {
		t.Fatal(err)
	}
	defer kernel.Close()
	var said []error
	dir := t.TempDir()
	w := &policyWatch{dirs: []string{filepath.Join(dir, "none"), dir}, kernel: kernel, warn: func(err error) { said = append(said, err) }}
	w.follow()
	if got := kernel.WatchList(); len(said) != 0 || len(got) != 1 || got[0] != dir {
		t.Errorf("watched: %q, said: %v", got, said)
	}
	if err := kernel.Close(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		w.follow()
	}
	if len(said) != 1 || !errors.Is(said[0], fsnotify.ErrClosed) {
		t.Errorf("said: %v, want once that it is closed", said)
	}
}

// TestTheWatchEndsWithItsDescriptor.
func TestTheWatchEndsWithItsDescriptor(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	w := &policyWatch{
		dirs: []string{dir}, settle: time.Millisecond, every: time.Hour,
		look:   func() (string, bool) { cancel(); return "as it was", true },
		loaded: func() string { return "as it was" },
		load:   func() <-chan struct{} { t.Error("loaded, and nothing changed"); return nil },
		warn:   func(err error) { t.Error(err) },
		open:   fsnotify.NewWatcher,
	}
	w.run(ctx)
	if err := w.kernel.Add(dir); !errors.Is(err, fsnotify.ErrClosed) {
		t.Errorf("the watch is still open: %v", err)
	}
}
