package volumes

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/mountward/mountward/pkg/hostview"
)

const (
	containerVariable = "VOLUMES_TEST_CONTAINER" // set in a process that plays a container: its root
	isolatedVariable  = "VOLUMES_TEST_NAMESPACE"
)

// TestMain moves the test process into a mount namespace of its own: whatever
// is mounted is gone with it.
func TestMain(m *testing.M) {
	if root := os.Getenv(containerVariable); root != "" {
		if err := contain(root, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if os.Geteuid() == 0 && os.Getenv(isolatedVariable) == "" {
		if err := isolate(); err != nil {
			fmt.Fprintln(os.Stderr, "make a mount namespace for the tests:", err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

func isolate() error {
	runtime.LockOSThread()
	if err := syscall.Unshare(syscall.CLONE_NEWNS); err != nil {
		return err
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_SLAVE, ""); err != nil {
		return err
	}
	return syscall.Exec("/proc/self/exe", os.Args, append(os.Environ(), isolatedVariable+"=1"))
}

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
	fmt.Println("ready")
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// container starts a process that plays a container.
func container(t testing.TB, root string, binds ...string) *os.Process {
	t.Helper()
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p, err := os.StartProcess("/proc/self/exe", append([]string{"container"}, binds...), &os.ProcAttr{
		Dir: "/", Env: append(os.Environ(), containerVariable+"="+root), Files: []*os.File{inR, outW, os.Stderr},
		Sys: &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS},
	})
	_, _ = inR.Close(), outW.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = inW.Close()
		_ = p.Kill()
		_, _ = p.Wait()
		_ = outR.Close()
	})
	if line, err := bufio.NewReader(outR).ReadString('\n'); err != nil {
		t.Fatalf("the container is not ready: %q %v", line, err)
	}
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
