package hostview

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mountward/mountward/pkg/internal/linux/linuxtest"
)

func descriptors(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// Each question is about the mount point itself, which can be opened for
// reference: it is the question that hangs.
func TestAQuestionToAHungFileSystemIsLeftBehind(t *testing.T) {
	for name, question := range questions {
		t.Run(name, func(t *testing.T) {
			dir := stage(t)
			abort := hungMount(t, mkdir(t, dir+"/hung"))
			write(t, dir+"/file", 1)
			v := openView(t, Options{Wait: time.Second})
			ctx := context.Background()
			if err := question(ctx, v, dir); err != nil && strings.Contains(err.Error(), "answer") {
				t.Fatal(err)
			}
			before, open := threads(t), descriptors(t)
			within(t, 20*time.Second, name, func() {
				refused(t, name, question(ctx, v, dir+"/hung"), "did not answer in 1s")
				for i := range 32 {
					refused(t, name, question(ctx, v, dir+"/hung"), errStuck.Error())
					refused(t, name, question(ctx, v, fmt.Sprintf("%s/hung/child%d", dir, i)), errStuck.Error())
				}
			})
			if n := threads(t) - before; n > 8 {
				t.Errorf("%d more threads after 65 questions", n)
			}
			if n := stay(t, v, 1); n != 1 {
				t.Errorf("%d helpers are stuck in one mount, want 1", n)
			}
			if got, err := v.ReadFile(ctx, dir+"/file", 1); err != nil || string(got) != "x" {
				t.Errorf("beside it: %q %v", got, err)
			}
			abort()
			stay(t, v, 0)
			if n := descriptors(t); n > open { // less by the one that was closed
				t.Errorf("%d descriptors are open, %d before", n, open)
			}
			if err := question(ctx, v, dir+"/hung"); err == nil || strings.Contains(err.Error(), errStuck.Error()) {
				t.Errorf("after it came back: %v, want it to be asked again", err)
			}
		})
	}
}

func TestAFileThatCannotBeOpenedNowIsLeftBehind(t *testing.T) {
	dir := stage(t)
	at := mkdir(t, dir+"/sleepy")
	linuxtest.SleepyFUSE(t, at, 60)
	v := openView(t, Options{Wait: time.Second})
	ctx := context.Background()
	within(t, 20*time.Second, "reading", func() {
		if m, err := v.Lookup(ctx, at+"/file"); err != nil || m.MountPoint != at {
			t.Errorf("looking it up: %+v %v", m, err)
		}
		_, err := v.BlockNumber(ctx, at+"/file")
		refused(t, "its kind", err, "not a block device")
		_, err = v.ReadFile(ctx, at+"/file", 10)
		refused(t, "reading", err, "did not answer in 1s")
		_, err = v.ReadFile(ctx, at+"/file", 10)
		refused(t, "reading once more", err, errStuck.Error())
	})
	if n := stay(t, v, 1); n != 1 {
		t.Errorf("%d helpers are stuck, want 1", n)
	}
}

func TestACancelledQuestionIsLeftBehind(t *testing.T) {
	dir := stage(t)
	hungMount(t, mkdir(t, dir+"/hung"))
	v := openView(t, Options{Wait: time.Hour})
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(10*time.Millisecond, cancel)
	within(t, 20*time.Second, "a cancelled question", func() {
		_, err := v.Statfs(ctx, dir+"/hung")
		refused(t, "cancelled", err, context.Canceled.Error())
	})
}
