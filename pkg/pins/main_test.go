package pins

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mountward/mountward/pkg/internal/linux/linuxtest"
)

// TestMain runs the tests in a mount namespace of their own.
func TestMain(m *testing.M) {
	linuxtest.Main(m, syscall.MS_PRIVATE, func(role string, args []string) error {
		if role == "umount" {
			return umountHere(args[0], args[1])
		}
		return play(strings.Fields(role))
	})
}

// play does what a role's words say, one after the other, says "ready" and lives
// until its input ends: private and slave are of its mounts, open=FILE,
// cd=DIRECTORY, map=FILE, and those of more.
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
			err = more(do, what)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", word, err)
		}
	}
	return linuxtest.Wait()
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
func start(t testing.TB, role string) *linuxtest.Child {
	t.Helper()
	attr := &syscall.SysProcAttr{}
	if strings.Contains(role, "private") || strings.Contains(role, "slave") {
		attr.Cloneflags = syscall.CLONE_NEWNS // with Unshareflags Go makes it private
	}
	return startIn(t, role, attr)
}

func startIn(t testing.TB, role string, attr *syscall.SysProcAttr) *linuxtest.Child {
	t.Helper()
	p := linuxtest.Start(t, role, attr)
	p.Line(t) // it is ready
	return p
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
	staged = append(staged, dir)
	return dir
}

// staged are the directories of stage. Tests of other packages have theirs.
var staged []string

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
