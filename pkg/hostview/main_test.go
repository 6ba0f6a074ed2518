package hostview

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// TestMain moves the test process into a mount namespace of its own: exec makes
// the namespace of one thread that of the process, and whatever is mounted is
// gone with the process, however it ends.
func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		if err := play(role, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	const done = "HOSTVIEW_TEST_NAMESPACE"
	if os.Geteuid() == 0 && os.Getenv(done) == "" {
		if err := isolate(done); err != nil {
			fmt.Fprintln(os.Stderr, "make a mount namespace for the tests:", err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

func isolate(done string) error {
	runtime.LockOSThread()
	if err := syscall.Unshare(syscall.CLONE_NEWNS); err != nil {
		return err
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return err
	}
	return syscall.Exec("/proc/self/exe", os.Args, append(os.Environ(), done+"=1"))
}

func needRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: mounts")
	}
}

func mount(t testing.TB, source, target, fsType string, flags uintptr, data string) {
	t.Helper()
	if err := syscall.Mount(source, target, fsType, flags, data); err != nil {
		t.Fatalf("mount %s on %s: %v", source, target, err)
	}
}

func detach(t testing.TB, target string) {
	t.Helper()
	if err := syscall.Unmount(target, syscall.MNT_DETACH); err != nil && err != syscall.EINVAL {
		t.Errorf("unmount %s: %v", target, err)
	}
}

// stage is a directory on a tmpfs of its own, unmounted with all below it.
func stage(t testing.TB) string {
	t.Helper()
	needRoot(t)
	dir := t.TempDir()
	mount(t, "stage", dir, "tmpfs", 0, "")
	t.Cleanup(func() { detach(t, dir) })
	return dir
}

func mkdir(t testing.TB, dir string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// openView opens a view that waits, if a test is not about waiting: the machine
// may be busy.
func openView(t testing.TB, o Options) *View {
	t.Helper()
	if o.Wait == 0 {
		o.Wait = time.Minute
	}
	v, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Errorf("close view: %v", err)
		}
	})
	return v
}
