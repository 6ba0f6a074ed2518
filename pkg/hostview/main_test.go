package hostview

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/mountward/mountward/pkg/internal/linux/linuxtest"
)

// TestMain runs the tests in a mount namespace of their own.
func TestMain(m *testing.M) { linuxtest.Main(m, syscall.MS_PRIVATE, play) }

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
