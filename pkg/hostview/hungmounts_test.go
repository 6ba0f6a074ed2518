package hostview

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mountward/mountward/pkg/internal/linux"
)

// hungMounts mounts so many file systems that hang, at numbers in a directory.
func hungMounts(t *testing.T, dir string, n int) {
	t.Helper()
	for i := range n {
		hungMount(t, mkdir(t, fmt.Sprintf("%s/%d", dir, i)))
	}
}

// othersAnswer checks that what is not cached of another file system is asked.
func othersAnswer(t *testing.T, v *View, dir string) {
	t.Helper()
	within(t, 60*time.Second, "a file beside it", func() {
		ctx := context.Background()
		if m, err := v.Lookup(ctx, dir); err != nil || m.MountPoint != dir {
			t.Errorf("a cached path: %+v %v", m, err)
		}
		patient := v.Patient(time.Minute) // the machine may be busy
		if got, err := patient.ReadFile(ctx, write(t, dir+"/file", 1), 1); err != nil || string(got) != "x" {
			t.Errorf("a file on tmpfs: %q %v", got, err)
		}
	})
}

func TestTheNumberOfStuckHelpersIsBounded(t *testing.T) {
	dir := stage(t)
	v := openView(t, Options{Wait: 5 * time.Millisecond})
	const mounts = maxHelpers + 4
	hungMounts(t, dir, mounts)
	within(t, 60*time.Second, "lookups in many hung mounts", func() {
		var all sync.WaitGroup
		for i := range mounts {
			all.Go(func() {
				for range 4 {
					if _, err := v.Lookup(context.Background(), fmt.Sprintf("%s/%d/x", dir, i)); err == nil {
						t.Errorf("mount %d answered", i)
					}
				}
			})
		}
		all.Wait()
	})
	if n := stay(t, v, maxOfType); n < maxServed {
		t.Errorf("%d stuck helpers, want at least %d", n, maxServed)
	}
	othersAnswer(t, v, dir)
}

// TestMountsOfATypeThatDoesNotAnswerAreNotWaitedFor, one after the other: the
// first few are.
func TestMountsOfATypeThatDoesNotAnswerAreNotWaitedFor(t *testing.T) {
	for _, rung := range []string{RungStatmount, RungMountinfo} {
		t.Run(rung, func(t *testing.T) {
			dir := stage(t)
			const mounts = 40
			hungMounts(t, dir, mounts)
			v := openView(t, Options{Rung: rung, Wait: 250 * time.Millisecond})
			ctx := context.Background()
			waited := 0
			within(t, 60*time.Second, "lookups in 40 hung mounts", func() {
				if _, err := v.Table(ctx); err != nil { // or a busy machine may need longer for it than a wait
					t.Error(err)
				}
				for i := range mounts {
					at := fmt.Sprintf("%s/%d", dir, i)
					_, err := v.Lookup(ctx, at+"/x")
					if i < maxServed {
						refused(t, "the first", err, "did not answer in 250ms")
						waited++
						for !v.walker.stuckIn(t, at) { // which on a busy machine it comes to later
							time.Sleep(time.Millisecond)
						}
						continue
					}
					// A helper that had no time to come there is none in it.
					for strings.Contains(err.Error(), "did not answer in 250ms") && !v.walker.stuckIn(t, at) {
						_, err = v.Lookup(ctx, at+"/x")
					}
					refused(t, "one more", err, "4 mounts of fuse do not answer already")
				}
			})
			if n := stay(t, v, maxServed); n != maxServed || waited != maxServed {
				t.Errorf("%d stuck helpers of %d waits, want %d", n, waited, maxServed)
			}
			othersAnswer(t, v, dir)
		})
	}
}

// stuckIn reports whether a helper is stuck in a mount.
func (w *walker) stuckIn(t *testing.T, at string) bool {
	t.Helper()
	f, err := linux.OpenPath(nil, at, 0) // which asks no file system
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	mount, err := w.key(f)
	if err != nil {
		t.Fatal(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for h := range w.helpers {
		if h.abandoned && h.mount == mount {
			return true
		}
	}
	return false
}
