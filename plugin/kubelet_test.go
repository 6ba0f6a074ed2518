package main

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/mountward/mountward/pkg/discover"
)

// fakeProc is a proc with process 1 and a kubelet's, whose command line the
// test makes.
func fakeProc(t *testing.T) (proc, cmdline string) {
	t.Helper()
	proc = t.TempDir()
	for pid, comm := range map[string]string{"1": "init", "9": "kubelet"} {
		dir := filepath.Join(proc, pid)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"comm": comm + "\n", "mountinfo": "27 1 253:0 / / rw - ext4 /dev/vda rw\n", "status": "Uid:\t0\t0\t0\t0\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return proc, filepath.Join(proc, "9", "cmdline")
}

// inTime fails the test instead of hanging it.
func inTime(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatalf("%s hangs", what)
	}
}

// TestACommandLineThatHangsHoldsUpNothing: who asks gets the last answer, and
// the real one once it comes.
func TestACommandLineThatHangsHoldsUpNothing(t *testing.T) {
	proc, cmdline := fakeProc(t)
	if err := syscall.Mkfifo(cmdline, 0o600); err != nil {
		t.Fatal(err)
	}
	told := make(chan string, 10)
	k := newKubelet(proc, func(root, _ string) { told <- root })
	for range 20 {
		inTime(t, "a creation", func() { k.refresh(t.Context()) })
		inTime(t, "the last answer", func() {
			if got := k.last(); got != discover.DefaultKubeletRoot {
				t.Errorf("root %q", got)
			}
		})
	}
	searching, _ := k.begin()
	select {
	case <-searching:
		t.Error("the search has ended")
	default:
	}
	// Now it answers, and ends the search.
	fifo, err := os.OpenFile(cmdline, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fifo.WriteString("kubelet\x00--root-dir=/data\x00"); err != nil {
		t.Error(err)
	}
	if err := fifo.Close(); err != nil {
		t.Error(err)
	}
	inTime(t, "the search", func() { <-searching })
	if got := k.last(); got != "/data" || <-told != "/data" {
		t.Errorf("root %q", got)
	}
}

// TestASearchThatHangsIsWaitedForOnce, not by each creation anew.
func TestASearchThatHangsIsWaitedForOnce(t *testing.T) {
	release := make(chan struct{})
	k := newKubelet("", func(string, string) {})
	k.search = func() (string, string, bool) { <-release; return "/data", "", true }
	first, until := k.begin()
	second, again := k.begin()
	if first == nil || first != second || !until.Equal(again) {
		t.Errorf("waits until %s, then until %s", until, again)
	}
	if latest := time.Now().Add(kubeletWait); until.After(latest) {
		t.Errorf("waits until %s, later than %s", until, latest)
	}
	close(release)
	inTime(t, "the search", func() { <-first })
	if searching, _ := k.begin(); searching != nil {
		t.Error("a creation waits although the kubelet is known")
	}
}

// TestAKubeletThatStartsAfterUs is known at its first pod.
func TestAKubeletThatStartsAfterUs(t *testing.T) {
	proc, cmdline := fakeProc(t)
	k := newKubelet(proc, func(string, string) {})
	// Without a hurry: what is shown is that a creation asks anew.
	wait := func() {
		searching, _ := k.begin()
		inTime(t, "the search", func() { <-searching })
	}
	wait()
	if got := k.last(); got != discover.DefaultKubeletRoot {
		t.Fatalf("root %q", got)
	}
	if err := os.WriteFile(cmdline, []byte("kubelet\x00--root-dir=/data\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	wait()
	if got := k.last(); got != "/data" {
		t.Errorf("root %q", got)
	}
}

// TestAKubeletOfAnotherUserIsNone: what a policy calls ${kubelet_root} is not for
// everybody to say.
func TestAKubeletOfAnotherUserIsNone(t *testing.T) {
	proc, cmdline := fakeProc(t)
	if err := os.WriteFile(cmdline, []byte("kubelet\x00--root-dir=/evil\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	for user, want := range map[string]string{"65534": discover.DefaultKubeletRoot, "0": "/evil"} {
		status := filepath.Join(filepath.Dir(cmdline), "status")
		if err := os.WriteFile(status, []byte("Uid:\t"+user+"\t"+user+"\t0\t0\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		k := newKubelet(proc, func(string, string) {})
		k.refreshFully(t)
		if got := k.last(); got != want {
			t.Errorf("of user %s: root %q, want %q", user, got, want)
		}
	}
}

// TestAKubeletThatIsGoneKeepsItsRoot: it may just be restarting; but then a
// creation looks for it again.
func TestAKubeletThatIsGoneKeepsItsRoot(t *testing.T) {
	k := newKubelet("", func(string, string) {})
	there := true
	k.search = func() (string, string, bool) {
		if there {
			return "/data", "", true
		}
		return discover.DefaultKubeletRoot, "", false
	}
	k.refreshFully(t)
	there = false
	k.answered = time.Now().Add(-2 * kubeletAge)
	if searching, _ := k.begin(); searching != nil {
		t.Error("a creation waits although a root is known")
	}
	k.refreshFully(t)
	if got := k.last(); got != "/data" {
		t.Errorf("root %q", got)
	}
	if searching, _ := k.begin(); searching == nil {
		t.Error("it is not looked for again")
	}
}

// refreshFully waits for the search that runs, or for a new one.
func (k *kubelet) refreshFully(t *testing.T) {
	t.Helper()
	k.mu.Lock()
	running := k.running
	k.mu.Unlock()
	if running == nil {
		k.begin()
		k.mu.Lock()
		running = k.running
		k.mu.Unlock()
	}
	if running != nil {
		inTime(t, "the search", func() { <-running })
	}
}

// TestACreationWaitsNoLongerThanItsOwnTime.
func TestACreationWaitsNoLongerThanItsOwnTime(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	k := newKubelet("", func(string, string) {})
	k.search = func() (string, string, bool) { <-release; return "", "", false }
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	inTime(t, "a creation", func() { k.refresh(ctx) })
}
