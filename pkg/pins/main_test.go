package pins

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

const (
	roleVariable     = "PINS_TEST_ROLE"
	isolatedVariable = "PINS_TEST_NAMESPACE"
)

// TestMain moves the test process into a mount namespace of its own: whatever
// is mounted is gone with it.
func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		var err error
		if what, ok := strings.CutPrefix(role, "umount="); ok {
			err = umountHere(what)
		} else {
			err = play(strings.Fields(role))
		}
		if err != nil {
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
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return err
	}
	return syscall.Exec("/proc/self/exe", os.Args, append(os.Environ(), isolatedVariable+"=1"))
}

// play does what a role's words say, one after the other, says "ready" and lives
// until its input ends: private and slave are of its mounts, open=FILE,
// cd=DIRECTORY, map=FILE.
func play(words []string) error {
	signal.Ignore(syscall.SIGPIPE)
	for _, word := range words {
		do, what, _ := strings.Cut(word, "=")
		var err error
		switch do {
		case "wait":
		case "private":
			err = syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, "")
		case "slave":
			err = syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_SLAVE, "")
		case "open":
			_, err = syscall.Open(what, syscall.O_RDONLY, 0) // until the process ends
		case "cd":
			err = os.Chdir(what)
		case "map":
			err = mapFile(what)
		default:
			err = errors.New("no such word")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", word, err)
		}
	}
	fmt.Println("ready")
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

func mapFile(name string) error {
	fd, err := syscall.Open(name, syscall.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	_, err = syscall.Mmap(fd, 0, 1, syscall.PROT_READ, syscall.MAP_PRIVATE)
	return err
}

// start starts a process that plays a role, in a mount namespace of its own if
// it has a word for one.
func start(t testing.TB, role string) *os.Process {
	t.Helper()
	attr := &syscall.SysProcAttr{}
	if strings.Contains(role, "private") || strings.Contains(role, "slave") {
		attr.Cloneflags = syscall.CLONE_NEWNS // with Unshareflags Go makes it private
	}
	return startIn(t, role, attr)
}

func startIn(t testing.TB, role string, attr *syscall.SysProcAttr) *os.Process {
	t.Helper()
	if role == "" {
		t.Fatal("a child without a role would run the tests")
	}
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p, err := os.StartProcess("/proc/self/exe", []string{"pins-helper"}, &os.ProcAttr{
		Dir: "/", Env: append(os.Environ(), roleVariable+"="+role), Files: []*os.File{inR, outW, os.Stderr}, Sys: attr,
	})
	_, _ = inR.Close(), outW.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = inW.Close(), p.Kill()
		_, _ = p.Wait()
		_ = outR.Close()
	})
	if line, err := bufio.NewReader(outR).ReadString('\n'); err != nil {
		t.Fatalf("%s is not ready: %q %v", role, line, err)
	}
	return p
}

func stop(t testing.TB, p *os.Process) {
	t.Helper()
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(); err != nil {
		t.Fatal(err)
	}
}

// stage is a shared directory in memory, as the host's are.
func stage(t testing.TB) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: mounts")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	mountAt(t, "stage", dir, "tmpfs", 0, "size=64m")
	if err := syscall.Mount("", dir, "", syscall.MS_SHARED, ""); err != nil {
		t.Fatal(err)
	}
	return dir
}

func mountAt(t testing.TB, source, target, fsType string, flags uintptr, data string) {
	t.Helper()
	mkdir(t, target)
	if err := syscall.Mount(source, target, fsType, flags, data); err != nil {
		t.Fatalf("mount %s on %s: %v", source, target, err)
	}
	t.Cleanup(func() {
		for syscall.Unmount(target, syscall.MNT_DETACH) == nil { // all that were stacked
		}
	})
}

func mkdir(t testing.TB, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}

func write(t testing.TB, file, text string) {
	t.Helper()
	mkdir(t, filepath.Dir(file))
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
