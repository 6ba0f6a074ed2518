package linux

import (
	"errors"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: mount namespaces")
	}
}

// otherNamespace starts a process in a mount namespace of its own.
func otherNamespace(t *testing.T) int {
	t.Helper()
	needRoot(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	p, err := os.StartProcess("/bin/cat", []string{"cat"}, &os.ProcAttr{
		Files: []*os.File{r, null, null}, Sys: &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS},
	})
	_, _ = r.Close(), null.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = w.Close()
		_, _ = p.Wait()
	})
	return p.Pid
}

func TestTheWalkFindsEveryNamespaceOnce(t *testing.T) {
	pid := otherNamespace(t)
	want, err := MountNamespace("/proc", strconv.Itoa(pid))
	if err != nil {
		t.Fatal(err)
	}
	times := map[uint64]int{}
	err = WalkMountNamespaces("/proc", func(f *os.File, ns MountNS) bool {
		times[ns.Inode]++
		if flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
			t.Errorf("mnt:[%d] is not close-on-exec (%v)", ns.Inode, err)
		}
		if ns.ID == 0 || ns.User == 0 {
			t.Errorf("%+v", ns)
		}
		return true
	})
	if errors.Is(err, ErrNotSupported) {
		t.Skip(err)
	}
	own, err2 := MountNamespace("/proc", "self")
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	if times[want] != 1 || times[own] != 1 {
		t.Errorf("the process's was visited %d times, ours %d times", times[want], times[own])
	}
	visits := 0
	err = WalkMountNamespaces("/proc", func(*os.File, MountNS) bool { visits++; return false })
	if err != nil || visits != 1 {
		t.Errorf("told to stop: %d visits, %v", visits, err)
	}
	if err := WalkMountNamespaces(t.TempDir(), func(*os.File, MountNS) bool { return true }); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no procfs: %v", err)
	}
}

func TestOnlyTheNamespaceThatIsMeantIsOpened(t *testing.T) {
	pid := otherNamespace(t)
	link := "/proc/" + strconv.Itoa(pid) + "/ns/mnt"
	inode, err := MountNamespace("/proc", strconv.Itoa(pid))
	if err != nil {
		t.Fatal(err)
	}
	f, err := OpenMountNS("/proc", nil, link, inode)
	if err != nil {
		t.Fatal(err)
	}
	ns, err := DescribeMountNS(f)
	_ = f.Close()
	if err != nil || ns.Inode != inode {
		t.Errorf("%+v %v", ns, err)
	}
	fifo := t.TempDir() + "/fifo"
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/proc/self/ns/mnt", "/proc/" + strconv.Itoa(pid) + "/ns/net", fifo, "/dev/null"} {
		if f, err := OpenMountNS("/proc", nil, path, inode); !Gone(err) {
			t.Errorf("%s: %v %v", path, f, err)
		}
	}
	root, err := OpenPath(nil, "/", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if f, err := OpenMountNS("/proc", root, link, inode); err == nil {
		t.Errorf("by a path that is a link of procfs: %v", f)
	}
}

func TestAThreadSeesTheNamespaceItEntersAndComesBack(t *testing.T) {
	pid := otherNamespace(t)
	inode, err := MountNamespace("/proc", strconv.Itoa(pid))
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		f, err := OpenMountNS("/proc", nil, "/proc/"+strconv.Itoa(pid)+"/ns/mnt", inode)
		if err != nil {
			t.Fatal(err)
		}
		m, err := OpenMountinfoIn("/proc", f)
		_ = f.Close()
		if err != nil {
			t.Fatal(err)
		}
		r, err := m.Rewind()
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if err != nil || string(got) != string(want) {
			t.Errorf("%v\n%s\nwant\n%s", err, got, want)
		}
		_ = m.Close()
		tasks, err := os.ReadDir("/proc/self/task")
		if err != nil {
			t.Fatal(err)
		}
		for _, task := range tasks {
			// One that has just ended has no link.
			if link, err := os.Readlink("/proc/self/task/" + task.Name() + "/ns/mnt"); err == nil && strings.Contains(link, strconv.FormatUint(inode, 10)) {
				t.Errorf("thread %s has stayed there", task.Name())
			}
		}
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if m, err := OpenMountinfoIn("/proc", null); err == nil {
		_ = m.Close()
		t.Error("entered what is no namespace")
	}
}

func TestTheFirstThreadIsSpared(t *testing.T) {
	for range 200 {
		got := make(chan [2]int)
		onThread(func() { got <- [2]int{unix.Gettid(), unix.Getpid()} })
		if ids := <-got; ids[0] == ids[1] {
			t.Fatal("it ran on the first thread, which Go never ends")
		}
		runtime.Gosched()
	}
}
