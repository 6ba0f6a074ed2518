package hostview

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/internal/linux"
	"github.com/mountward/mountward/pkg/internal/linux/linuxtest"
)

// shimOf starts a process that is named like a shim and has the working
// directory of one.
func shimOf(t *testing.T, exe, cwd string, attr *syscall.SysProcAttr) int {
	t.Helper()
	p := linuxtest.StartFile(t, exe, "shim", attr, cwd)
	p.Line(t) // it is ready
	return p.Pid
}

func TestRuntimesAreFoundByTheirShims(t *testing.T) {
	dir := stage(t)
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil { // for another user
		t.Fatal(err)
	}
	bundle := func(state, id string) string {
		return mkdir(t, filepath.Join(dir, state, runtimeV2, "k8s.io", id))
	}
	self := program(t, dir+"/shim")
	first := shimOf(t, self, bundle("run", "a"), nil)
	shimOf(t, self, bundle("run", "b"), nil)
	other := shimOf(t, self, bundle("k3s/run", "c"), nil)
	apart := shimOf(t, self, bundle("run", "d"), &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS})
	gone := bundle("gone", "e")
	removed := shimOf(t, self, gone, nil)
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}

	// None of these is one.
	shimOf(t, self, mkdir(t, dir+"/elsewhere"), nil)
	shimOf(t, self, mkdir(t, filepath.Join(bundle("deep", "f"), "rootfs")), nil)
	shimOf(t, self, bundle("user", "g"), &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}})
	shimOf(t, self, bundle("container", "h"), &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID})
	shimOf(t, imageFile(t, dir), bundle("image", "i"), nil)

	all, err := Runtimes("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range all {
		if strings.HasPrefix(r.State, dir) { // the machine may have its own
			got = append(got, fmt.Sprintf("%s %d", strings.TrimPrefix(r.State, dir), r.Shim))
			if ns, err := linux.MountNamespace("/proc", fmt.Sprint(r.Shim)); err != nil || ns != r.Namespace {
				t.Errorf("%+v: %d %v", r, ns, err)
			}
			if !strings.Contains(r.Evidence, r.State) {
				t.Errorf("evidence %q of %s", r.Evidence, r.State)
			}
		}
	}
	want := []string{
		fmt.Sprintf("/run %d", first), fmt.Sprintf("/k3s/run %d", other),
		fmt.Sprintf("/run %d", apart), fmt.Sprintf("/gone %d", removed),
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// program copies this program: /proc/self/exe is on a mount of the namespace
// that the tests left.
func program(t *testing.T, path string) string {
	t.Helper()
	in, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// imageFile returns a path by which to execute this program from a mount that
// nobody sees, as an image's file is after a change of root to the host's.
func imageFile(t *testing.T, dir string) string {
	t.Helper()
	at := mkdir(t, dir+"/image")
	mount(t, "image", at, "tmpfs", 0, "")
	exe, err := os.Open(program(t, at+"/shim"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = exe.Close() })
	detach(t, at)
	return fmt.Sprintf("/proc/self/fd/%d", exe.Fd())
}

func TestAProcessOfAnotherRootIsNoShim(t *testing.T) {
	const (
		status = "Name:\tcontainerd-shim\nUid:\t0\t0\t0\t0\nNSpid:\t9\n"
		cwd    = "/run/x/io.containerd.runtime.v2.task/moby/c1"
	)
	exe := filepath.Join(t.TempDir(), "exe")
	write(t, exe, 0)
	f, err := os.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	id, err := linux.MountID(f)
	if err != nil {
		t.Fatal(err)
	}
	// A file on another mount, which is in no table below.
	const other = "/proc/self/comm"
	alone := "27 1 253:0 / / rw shared:1 - ext4 /dev/vda rw\n"
	host := alone + fmt.Sprintf("%d 27 253:1 / /usr rw - ext4 /dev/vdb rw\n", id)
	for _, test := range []struct {
		name, status, mounts, exe, namespace string
		found                                bool
		why                                  string // of an error; "" for none
	}{
		{"a shim", status, host, exe, "mnt:[7]", true, ""},
		{"another root", status, strings.Replace(host, "253:0 / /", "0:91 / /", 1), exe, "mnt:[7]", false, ""},
		{"a directory of the host as root", status, strings.Replace(host, "253:0 / /", "253:0 /srv /", 1), exe, "mnt:[7]", false, ""},
		{"it executes what process 1 sees", status, alone, exe, "mnt:[7]", true, ""},
		{"it executes what nobody sees", status, alone, other, "mnt:[7]", false, ""},
		{"another user", strings.Replace(status, "0\t0\t0\t0", "0\t9\t9\t9", 1), host, exe, "mnt:[7]", false, ""},
		{"a pid namespace below", strings.Replace(status, "NSpid:\t9", "NSpid:\t9\t1", 1), host, exe, "mnt:[7]", false, ""},
		{"no status", "", host, exe, "mnt:[7]", false, "no Uid or NSpid"},
		{"no table", status, "", exe, "mnt:[7]", false, "no mount at /"},
		{"what it executes is not told", status, host, "/nowhere", "mnt:[7]", false, "no such file"},
		{"its namespace is not told", status, host, exe, "pid:[7]", false, "is not mnt:[INODE]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			proc := t.TempDir()
			mkdir(t, proc+"/1")
			mkdir(t, proc+"/9/ns")
			mkdir(t, proc+"/77") // vanished between the listing and the reading
			for name, text := range map[string]string{
				"1/comm": "init\n", "1/mountinfo": host, "9/comm": "containerd-shim\n", "9/status": test.status, "9/mountinfo": test.mounts,
			} {
				if err := os.WriteFile(filepath.Join(proc, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for name, target := range map[string]string{"9/cwd": cwd, "9/exe": test.exe, "9/ns/mnt": test.namespace} {
				if err := os.Symlink(target, filepath.Join(proc, name)); err != nil {
					t.Fatal(err)
				}
			}
			all, err := Runtimes(proc)
			if (err == nil) != (test.why == "") || err != nil && !strings.Contains(err.Error(), test.why) {
				t.Errorf("%v, want %q", err, test.why)
			}
			var want []Runtime
			if test.found {
				want = []Runtime{{"/run/x", 7, 9, "working directory " + cwd + " of the shim, process 9"}}
			}
			if diff := cmp.Diff(want, all); diff != "" {
				t.Error(diff)
			}
		})
	}
	if all, err := Runtimes("/nowhere"); err == nil {
		t.Errorf("no procfs: %+v", all)
	}
}

func TestTheDefaultStatesAreContainerdsOwnAndItsPackagers(t *testing.T) {
	for _, want := range []string{"/run/containerd", "/run/k3s/containerd", "/run/k0s/containerd", "/var/snap/microk8s/common/run/containerd"} {
		if !slices.Contains(DefaultStates(), want) {
			t.Errorf("%s is not among %q", want, DefaultStates())
		}
	}
}
