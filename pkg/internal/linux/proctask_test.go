package linux

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
)

func TestATaskIsReadThroughOneDescriptor(t *testing.T) {
	task, err := OpenProcTask("/proc", "self")
	if err != nil {
		t.Fatal(err)
	}
	defer task.Close()
	line, err := task.Read("stat", 1<<10)
	if err != nil || !strings.HasPrefix(string(line), strconv.Itoa(os.Getpid())+" (") {
		t.Errorf("%q %v", line, err)
	}
	if part, err := task.Read("status", 7); err != nil || len(part) != 7 {
		t.Errorf("limited: %q %v", part, err)
	}
	long := t.TempDir() + "/1"
	if err := os.MkdirAll(long, 0o755); err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("0123456789", 1000)
	if err := os.WriteFile(long+"/cgroup", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	target := strings.Repeat("d/", 1000) + "end"
	if err := os.Symlink(target, long+"/root"); err != nil {
		t.Fatal(err)
	}
	fake, err := OpenProcTask(t.TempDir()+"/..", "absent")
	if err == nil {
		_ = fake.Close()
		t.Error("a task that is not there was opened")
	}
	fake, err = OpenProcTask(strings.TrimSuffix(long, "/1"), "1")
	if err != nil {
		t.Fatal(err)
	}
	defer fake.Close()
	if got, err := fake.Read("cgroup", 1<<20); err != nil || string(got) != text {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if got, err := fake.Link("root"); err != nil || got != target {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if n, err := fake.Namespace("root"); err == nil {
		t.Errorf("no namespace: %d", n)
	}
	own, err := MountNamespace("/proc", "self")
	if n, err2 := task.Namespace("ns/mnt"); err != nil || err2 != nil || n != own {
		t.Errorf("%d %v %v, want %d", n, err, err2, own)
	}
}

func TestOnlyTheDescriptorsOfAKindAreFound(t *testing.T) {
	f, err := os.Open("/proc/self/ns/mnt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	task, err := OpenProcTask("/proc", "self")
	if err != nil {
		t.Fatal(err)
	}
	defer task.Close()
	own, err := os.Readlink("/proc/self/ns/mnt")
	if err != nil {
		t.Fatal(err)
	}
	found := map[int]string{}
	err = task.Descriptors("mnt:[", 1<<16, func(fd int, link string) { found[fd] = link })
	if err != nil || len(found) != 1 || found[int(f.Fd())] != own {
		t.Errorf("%v %v, want %d", found, err, f.Fd())
	}
	if err := task.Descriptors("mnt:[", 1, func(int, string) {}); err == nil {
		t.Error("more than may be are no error")
	}
}

func TestTheEndOfAProcessIsTold(t *testing.T) {
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
	child, err := os.StartProcess("/bin/cat", []string{"cat"}, &os.ProcAttr{Files: []*os.File{r, null, null}})
	if err != nil {
		t.Fatal(err)
	}
	task, err := OpenProcTask("/proc", strconv.Itoa(child.Pid))
	if err != nil {
		t.Fatal(err)
	}
	defer task.Close()
	_ = w.Close()
	if _, err := child.Wait(); err != nil {
		t.Fatal(err)
	}
	if text, err := task.Read("stat", 1<<10); !Gone(err) {
		t.Errorf("%q %v", text, err)
	}
	if _, err := task.Link("ns/mnt"); !Gone(err) {
		t.Error(err)
	}
	if _, err := task.Open("mountinfo"); !Gone(err) {
		t.Error(err)
	}
	if Gone(nil) || Gone(errors.New("other")) || Gone(os.ErrPermission) {
		t.Error("Gone of another error")
	}
}
