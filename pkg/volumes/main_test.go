package volumes

import (
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/internal/linux/linuxtest"
)

// TestMain runs the tests in a mount namespace of their own.
func TestMain(m *testing.M) { linuxtest.Main(m, syscall.MS_SLAVE, contain) }

// contain does what a runtime does: it binds pairs of a source and a
// destination in the root, makes that its own and lives until its input ends.
func contain(root string, binds []string) error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_SLAVE, ""); err != nil {
		return err
	}
	for i := 0; i+1 < len(binds); i += 2 {
		if err := syscall.Mount(binds[i], root+binds[i+1], "", syscall.MS_BIND|syscall.MS_REC, ""); err != nil {
			return fmt.Errorf("bind %s: %w", binds[i], err)
		}
	}
	if err := os.Chdir(root); err != nil {
		return err
	}
	if err := syscall.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("pivot: %w", err)
	}
	if err := syscall.Unmount(".", syscall.MNT_DETACH); err != nil {
		return err
	}
	return linuxtest.Wait()
}

// container starts a process that plays a container.
func container(t testing.TB, root string, binds ...string) *linuxtest.Child {
	t.Helper()
	p := linuxtest.Start(t, root, &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}, binds...)
	p.Line(t) // it is ready
	return p
}

func mountAt(t testing.TB, source, target, fsType string, data string) {
	t.Helper()
	mkdir(t, target)
	if err := syscall.Mount(source, target, fsType, 0, data); err != nil {
		t.Fatalf("mount %s on %s: %v", source, target, err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(target, syscall.MNT_DETACH); err != nil && err != syscall.EINVAL {
			t.Errorf("unmount %s: %v", target, err)
		}
	})
}

func mkdir(t testing.TB, dirs ...string) {
	t.Helper()
	for _, dir := range dirs {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func write(t testing.TB, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func openView(t testing.TB, rung string) *hostview.View {
	t.Helper()
	v, err := hostview.Open(hostview.Options{Rung: rung, Wait: time.Minute})
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
