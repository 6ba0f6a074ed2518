package hostview

import (
	"syscall"
	"testing"
	"time"
)

// TestChangedTellsOfMountsAndOfNothingElse: many at once are few.
func TestChangedTellsOfMountsAndOfNothingElse(t *testing.T) {
	dir := stage(t)
	at := mkdir(t, dir+"/changed")
	v := openView(t, Options{})
	for quiet := false; !quiet; { // what others mount
		select {
		case <-v.Changed():
		case <-time.After(4 * leastWait):
			quiet = true
		}
	}
	if err := syscall.Mount("none", at, "tmpfs", 0, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(at, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	select {
	case <-v.Changed():
	case <-time.After(time.Minute):
		t.Error("a mount is not told of")
	}
}
