package linux

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// apart starts a process in a mount namespace of its own.
func apart(t *testing.T) *os.Process {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: a mount namespace")
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	p, err := os.StartProcess("/bin/sleep", []string{"sleep", "1000"}, &os.ProcAttr{
		Files: []*os.File{null, null, null}, Sys: &unix.SysProcAttr{Unshareflags: unix.CLONE_NEWNS},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.Kill()
		_, _ = p.Wait()
	})
	return p
}

// TestAThreadGoesAndComesHome: it is where the process is, then where it began;
// no other thread has moved and no descriptor is left.
func TestAThreadGoesAndComesHome(t *testing.T) {
	p := apart(t)
	home, err := MountNamespace("/proc", "self")
	if err != nil {
		t.Fatal(err)
	}
	there, err := MountNamespace("/proc", strconv.Itoa(p.Pid))
	if err != nil || there == home {
		t.Fatalf("the process is in mnt:[%d], we are in mnt:[%d]: %v", there, home, err)
	}
	fd, err := OpenPidFD(p.Pid)
	if err != nil {
		t.Fatal(err)
	}
	defer fd.Close()
	before := countFiles(t)
	var at [3]uint64
	tid := 0
	if err := Travel("/proc", func(tr *Traveller) error {
		tid = unix.Gettid()
		var errs [5]error
		at[0], errs[0] = tr.Namespace()
		errs[1] = tr.EnterProcess(fd)
		at[1], errs[2] = tr.Namespace()
		errs[3] = tr.Home()
		at[2], errs[4] = tr.Namespace()
		return errors.Join(errs[:]...)
	}); err != nil {
		t.Fatal(err)
	}
	if at != [3]uint64{home, there, home} {
		t.Errorf("it was in %v, want %v", at, []uint64{home, there, home})
	}
	wrong := errors.New("wrong")
	if err := Travel("/proc", func(tr *Traveller) error { return errors.Join(tr.EnterProcess(fd), wrong) }); !errors.Is(err, wrong) {
		t.Errorf("error %v, want the function's", err)
	}
	if now := countFiles(t); now > before { // others that nobody needs may be closed meanwhile
		t.Errorf("%d descriptors, %d before", now, before)
	}
	if tid == unix.Getpid() {
		t.Error("it was the first thread, which Go keeps")
	}
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, thread := range threads {
		// One that has just ended has none.
		if ns, err := MountNamespace("/proc/self/task", thread.Name()); err == nil && ns != home {
			t.Errorf("thread %s is left in mnt:[%d]", thread.Name(), ns)
		}
	}
}

func countFiles(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// TestAPanicOnTheThreadIsTheCallers, who may be prepared for it.
func TestAPanicOnTheThreadIsTheCallers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: the function is called once the root directory is unshared")
	}
	defer func() {
		if r := recover(); r != "broken" {
			t.Errorf("recovered %v", r)
		}
	}()
	_ = Travel("/proc", func(*Traveller) error { panic("broken") })
}

// TestJoinGroupIsThereSince the kernel that the comment names: the test fails
// where the kernel is younger and has it not.
func TestJoinGroupIsThereSince(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: the kernel asks for CAP_SYS_ADMIN first")
	}
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		t.Fatal(err)
	}
	release := strings.SplitN(unix.ByteSliceToString(u.Release[:]), ".", 3)
	major, err := strconv.Atoi(release[0])
	if err != nil {
		t.Fatal(err)
	}
	minor, err := strconv.Atoi(release[1])
	if err != nil {
		t.Fatal(err)
	}
	err = CanJoinGroup()
	if young := major > 5 || major == 5 && minor >= 15; young && err != nil {
		t.Errorf("Linux %d.%d: %v", major, minor, err)
	}
	if err != nil && !errors.Is(err, ErrNotSupported) {
		t.Errorf("%v is not told by its type", err)
	}
}

// TestWhatAMountCallNeeds: a file that is no mount's root, and a mount of another
// namespace, are errors that name the call, and change nothing.
func TestWhatAMountCallNeeds(t *testing.T) {
	p := apart(t)
	dir, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	elsewhere, err := OpenMagic("/proc/" + strconv.Itoa(p.Pid) + "/root")
	if err != nil {
		t.Fatal(err)
	}
	defer elsewhere.Close()
	for name, err := range map[string]error{
		"mount_setattr": SetPropagation(dir, MakePrivate, false),
		"move_mount":    JoinGroup(dir, dir),
		"open_tree":     func() error { _, err := CloneMount(elsewhere, false); return err }(),
	} {
		if !errors.Is(err, unix.EINVAL) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := SetPropagation(elsewhere, MakePrivate, false); !errors.Is(err, unix.EINVAL) {
		t.Errorf("a mount of another namespace: %v", err)
	}
	// The process goes: its namespace cannot be entered by it any more.
	fd, err := OpenPidFD(p.Pid)
	if err != nil {
		t.Fatal(err)
	}
	defer fd.Close()
	_ = p.Kill()
	_, _ = p.Wait()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if err = Travel("/proc", func(tr *Traveller) error { return tr.EnterProcess(fd) }); err != nil {
			break
		}
	}
	if !errors.Is(err, unix.ESRCH) {
		t.Errorf("a process that is gone: %v", err)
	}
}
