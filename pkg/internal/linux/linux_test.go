package linux

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestOpenPathWalksAsAsked(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("target", dir+"/link"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir+"/target", 0o755); err != nil {
		t.Fatal(err)
	}
	root, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		path string
		walk Walk
		want string
		err  error
	}{
		{"link", NoMagicLinks, resolved + "/target", nil},
		{"link", Cached, resolved + "/target", nil},
		{"link", NoFollow, resolved + "/link", nil},
		{"link", NoLinks, "", unix.ELOOP},
		{"/../target", InRoot, resolved + "/target", nil},
		{"absent", 0, "", os.ErrNotExist},
		{"/proc/self/cwd", NoMagicLinks, "", unix.ELOOP},
	} {
		f, err := OpenPath(root, tc.path, tc.walk)
		if !errors.Is(err, tc.err) {
			t.Errorf("%s %b: %v, want %v", tc.path, tc.walk, err, tc.err)
		}
		if err != nil {
			continue
		}
		got, err := FDPath("/proc", f)
		if err != nil || got != tc.want {
			t.Errorf("%s %b: %s %v, want %s", tc.path, tc.walk, got, err, tc.want)
		}
		target, is, err := ReadLink(f)
		if link := strings.HasSuffix(tc.want, "/link"); err != nil || is != link || link && target != "target" {
			t.Errorf("%s %b: link to %q %v %v", tc.path, tc.walk, target, is, err)
		}
		if flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
			t.Errorf("%s: not close-on-exec (%v)", tc.path, err)
		}
		_ = f.Close()
	}
}

func TestAPidFDTellsLifeFromDeath(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	// cat ends at once where its output is closed.
	child, err := os.StartProcess("/bin/cat", []string{"cat"}, &os.ProcAttr{Files: []*os.File{r, null, null}})
	if err != nil {
		t.Fatal(err)
	}
	fd, err := OpenPidFD(child.Pid)
	if err != nil {
		t.Fatal(err)
	}
	defer fd.Close()
	if alive, err := fd.Alive(); err != nil || !alive {
		t.Errorf("running: %v %v", alive, err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := child.Wait(); err != nil {
		t.Fatal(err)
	}
	if alive, err := fd.Alive(); err != nil || alive {
		t.Errorf("ended: %v %v", alive, err)
	}
	if _, err := OpenPidFD(child.Pid); !errors.Is(err, unix.ESRCH) {
		t.Errorf("open after the end: %v", err)
	}
}

func TestAWaitEndsWhenItIsWoken(t *testing.T) {
	m, err := OpenMountinfo("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	waker, err := NewWaker()
	if err != nil {
		t.Fatal(err)
	}
	defer waker.Close()
	got := make(chan Event, 1)
	go func() {
		for {
			e, err := m.Wait(waker, nil)
			if err != nil {
				t.Error(err)
			}
			if err != nil || e.Woken {
				got <- e
				return
			}
		}
	}()
	if err := waker.Wake(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-got:
	case <-time.After(20 * time.Second):
		t.Fatal("it still waits")
	}
	for range 2 {
		r, err := m.Rewind()
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(r); err != nil || len(text) == 0 {
			t.Errorf("%d bytes, %v", len(text), err)
		}
	}
}

func TestThePeerOfASocketIsKnown(t *testing.T) {
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if pid, err := PeerPID(c.(*net.UnixConn)); err != nil || pid != os.Getpid() {
		t.Errorf("%d %v, want %d", pid, err, os.Getpid())
	}
	if pid, err := PeerPIDOfFD(1 << 20); err == nil {
		t.Errorf("no descriptor: %d", pid)
	}
}

func TestTheNamespaceHasANumber(t *testing.T) {
	a, err := MountNamespace("/proc", "self")
	if err != nil || a == 0 {
		t.Fatal(a, err)
	}
	if _, err := MountNamespace("/nowhere", "self"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no procfs: %v", err)
	}
	id, err := NamespaceID("/proc", os.Getpid())
	if errors.Is(err, ErrNotSupported) {
		t.Skip(err)
	}
	f, ferr := OpenPath(nil, "/", 0)
	if err != nil || ferr != nil {
		t.Fatal(err, ferr)
	}
	defer f.Close()
	unique, err := UniqueMountID(f)
	if err != nil {
		t.Fatal(err)
	}
	if m, err := Statmount(unique, id); err != nil || m.MountPoint != "/" {
		if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOENT) {
			t.Skip("needs root: another namespace's number needs CAP_SYS_ADMIN")
		}
		t.Errorf("by our own namespace's number: %+v %v", m, err)
	}
}

func TestAMissingCallIsToldFromAFailure(t *testing.T) {
	var err error = &os.PathError{Op: "openat2", Err: &NotSupportedError{"openat2", "5.6", unix.ENOSYS}}
	if !errors.Is(err, ErrNotSupported) || !errors.Is(err, unix.ENOSYS) || errors.Is(unix.EPERM, ErrNotSupported) {
		t.Error("ErrNotSupported must match what is missing and nothing else")
	}
}
