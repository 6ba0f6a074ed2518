//go:build linux

package guard_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/mountward/mountward/test/runtime/harness"
)

// TestForeignFileStopsContainerd is the trap of T20: containerd does not start
// with an executable in the plugin directory that is named otherwise, and launches
// what a backup of a plugin is.
func TestForeignFileStopsContainerd(t *testing.T) {
	n := harness.New(t, harness.Config{})
	foreign := filepath.Join(n.PluginDir, ".mountward.tmp")
	if err := os.WriteFile(foreign, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := n.Restart(); err == nil {
		t.Error("containerd starts beside a foreign file: then nothing need be installed by rename")
	}
	if err := os.Remove(foreign); err != nil {
		t.Fatal(err)
	}
	if err := n.Restart(); err != nil {
		t.Fatal(err)
	}
}

// TestInstallBesideContainerd is T20: containerd starts at any moment of "make
// install-launched", also of one that is killed, for nothing but the finished
// link is ever in the plugin directory.
func TestInstallBesideContainerd(t *testing.T) {
	n := harness.New(t, harness.Config{})
	seen := namesMade(t, n.PluginDir)
	dir := t.TempDir()
	install := exec.Command("make", "-s", "-C", "../../..", "install-launched",
		"DESTDIR="+n.Dir, "PREFIX="+filepath.Join(dir, "usr"), "PLUGINDIR=/"+filepath.Base(n.PluginDir))
	run := func(kill time.Duration) error {
		cmd := exec.Command(install.Path, install.Args[1:]...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		var said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &said, &said
		if err := cmd.Start(); err != nil {
			return err
		}
		if kill > 0 {
			time.Sleep(kill)
			_ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL) // it may have ended
			_ = cmd.Wait()                                // it was killed
			return nil
		}
		if err := cmd.Wait(); err != nil {
			return fmt.Errorf("%w: %s", err, said.String())
		}
		return nil
	}
	began := time.Now()
	if err := run(0); err != nil {
		t.Fatal(err)
	}
	takes := time.Since(began)

	var stop atomic.Bool
	var rounds atomic.Int32
	done := make(chan error, 1)
	go func() {
		for ; !stop.Load(); rounds.Add(1) {
			kill := time.Duration(0)
			if rounds.Load()%4 != 0 {
				kill = 1 + rand.N(takes)
			}
			if err := run(kill); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	starts := 0
	for ; starts < 10 || rounds.Load() < 8; starts++ {
		if err := n.Restart(); err != nil {
			t.Errorf("containerd does not start: %v", err)
			break
		}
		if len(done) > 0 {
			break // an installation failed
		}
	}
	t.Logf("%d starts of containerd during %d installations, of which 3 in 4 were killed", starts, rounds.Load())
	stop.Store(true)
	if err := <-done; err != nil {
		t.Error(err)
	}
	made := seen()
	if len(made) == 0 {
		t.Error("nothing was seen in the plugin directory")
	}
	for name := range made {
		if name != "90-mountward" {
			t.Errorf("%q was in the plugin directory", name)
		}
	}
	if target, err := os.Readlink(filepath.Join(n.PluginDir, "90-mountward")); err != nil || !strings.HasSuffix(target, "/bin/mountward") {
		t.Errorf("the link leads to %q: %v", target, err)
	}
}

// namesMade has the kernel tell each name that appears in a directory, from now
// until the function is called.
func namesMade(t *testing.T, dir string) func() map[string]bool {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_CREATE|unix.IN_MOVED_TO); err != nil {
		t.Fatal(err)
	}
	return func() map[string]bool {
		t.Helper()
		names := map[string]bool{}
		for buffer := make([]byte, 1<<16); ; {
			n, err := unix.Read(fd, buffer)
			if errors.Is(err, unix.EAGAIN) {
				return names
			}
			if err != nil {
				t.Fatal(err)
			}
			for at := 0; at < n; {
				event := (*unix.InotifyEvent)(unsafe.Pointer(&buffer[at]))
				at += unix.SizeofInotifyEvent
				if event.Mask&unix.IN_Q_OVERFLOW != 0 {
					t.Fatal("the kernel has lost names")
				}
				names[string(bytes.TrimRight(buffer[at:at+int(event.Len)], "\x00"))] = true
				at += int(event.Len)
			}
		}
	}
}
