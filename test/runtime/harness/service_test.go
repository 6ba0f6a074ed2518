//go:build linux

package harness

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestOnThread: what is changed on such a thread is never what the program, or
// /proc/self, sees later.
func TestOnThread(t *testing.T) {
	NeedsRoot(t)
	before, err := os.Readlink("/proc/self/ns/mnt")
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		err := OnThread(func() error {
			if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
				return err
			}
			if inside, err := os.Readlink("/proc/thread-self/ns/mnt"); err != nil || inside == before {
				t.Errorf("the thread is in %s as the program is, %v", inside, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"self", "thread-self"} {
			if after, err := os.Readlink("/proc/" + name + "/ns/mnt"); err != nil || after != before {
				t.Fatalf("%s is in %s, want %s: %v", name, after, before, err)
			}
		}
	}
}

// TestServiceNamespaces: a service is where it is said to be, and does what it is
// told there.
func TestServiceNamespaces(t *testing.T) {
	NeedsRoot(t)
	dir := t.TempDir()
	at := t.TempDir()
	apart := &Service{Name: "apart", Unshare: true, Propagations: []uintptr{unix.MS_PRIVATE}}
	beside := &Service{Name: "beside"}
	for _, s := range []*Service{apart, beside} {
		if err := s.Start(dir); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := s.Stop(); err != nil {
				t.Error(err)
			}
		}()
	}
	within := &Service{Name: "within", Of: apart.PID}
	if err := within.Start(dir); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := within.Stop(); err != nil {
			t.Error(err)
		}
	}()
	if answer, err := within.Tell("mount -t tmpfs probe " + at + " >&2; echo $?"); err != nil || answer != "0" {
		t.Fatalf("mount: %q, %v", answer, err)
	}
	for pid, want := range map[int]bool{apart.PID: true, within.PID: true, beside.PID: false, 0: false} {
		mounts, err := Mountinfo(pid)
		if err != nil {
			t.Fatal(err)
		}
		if got := mounts.At(at) != nil; got != want {
			t.Errorf("process %d has the mount: %t, want %t", pid, got, want)
		}
	}
}
