//go:build linux

package guard_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mountward/mountward/test/runtime/harness"
)

// TestWhatDoctorPrintsMends: the commands that doctor prints for a problem are
// executed on a host that has it. Then doctor finds no problem, and a volume that
// was mounted before is where the kubelet looks for it.
func TestWhatDoctorPrintsMends(t *testing.T) {
	harness.NeedsRoot(t)
	for _, test := range []struct {
		name    string
		before  []string // what is done at the kubelet's root before the volume is mounted
		after   []string // and after it
		drained bool     // no volume is mounted: the fix says so
		private bool     // the kubelet is in a private mount namespace
		link    bool     // the kubelet's root is a symbolic link
		problem string   // whose fix is executed first
	}{
		{name: "the root is a private disk", before: []string{"disk", "private"}, problem: "not-shared"},
		{name: "a private disk on a shared one", before: []string{"disk", "shared", "disk", "private"}, problem: "not-shared"},
		{name: "the kubelet bound its root on a private disk", before: []string{"disk", "private", "bind", "shared"}, drained: true, problem: "cri-misjudges"},
		{name: "and did so at each start", before: []string{"disk", "private", "bind", "shared", "bind", "shared", "bind", "shared"}, drained: true, problem: "cri-misjudges"},
		{name: "bound over a volume", after: []string{"bind", "shared"}, problem: "volume-hidden"},
		{name: "bound over a volume of a private disk", before: []string{"disk", "private"}, after: []string{"bind", "shared"}, problem: "volume-hidden"},
		{name: "the root is a symbolic link", before: []string{"disk", "shared"}, link: true, problem: "kubelet-root-symlink"},
		{name: "a private disk, and a kubelet in a private mount namespace", before: []string{"disk", "private"}, private: true, problem: "namespaces-apart"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newServices(t)
			directory := h.root
			if test.link {
				h.root = filepath.Join(h.dir, "link")
				if err := os.Symlink(directory, h.root); err != nil {
					t.Fatal(err)
				}
			}
			t.Cleanup(func() { unmountAll(t, h.root, directory) })
			steps(t, directory, test.before)
			for _, dir := range []string{aVolume, "plugins"} {
				if err := os.MkdirAll(filepath.Join(directory, dir), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if !test.drained {
				mountVolume(t, filepath.Join(directory, aVolume))
			}
			steps(t, directory, test.after)
			h.containerd(harness.Service{})
			kubelet := &harness.Service{Name: "kubelet", Args: []string{"--root-dir=" + h.root}}
			if test.private {
				kubelet.Unshare, kubelet.Propagations = true, []uintptr{unix.MS_PRIVATE}
			}
			if err := kubelet.Start(h.dir); err != nil {
				t.Fatal(err)
			}
			stop := sync.OnceValue(kubelet.Stop)
			t.Cleanup(func() {
				if err := stop(); err != nil {
					t.Error(err)
				}
			})

			d := diagnose(t, "", "doctor")
			if len(d.coded("no", test.problem)) == 0 {
				t.Fatalf("no %s, but %q", test.problem, d.problems())
			}
			for round := 0; len(d.problems()) > 0; round++ {
				if round == 3 {
					t.Fatalf("after %d fixes: %q", round, d.problems())
				}
				worst := d.Findings[0]
				if found := d.coded("no", test.problem); len(found) > 0 {
					worst = found[0]
				}
				mend(t, worst)
				if test.private && round == 0 { // what the fix says, and no command can do here
					if err := stop(); err != nil {
						t.Fatal(err)
					}
					h.kubelet(harness.Service{})
				}
				d = diagnose(t, "", "doctor")
			}
			if _, err := os.Stat(filepath.Join(h.root, aVolume, "rows.db")); err != nil && !test.drained {
				t.Errorf("the volume is not where the kubelet looks: %v", err)
			}
		})
	}
}

// aVolume is where one is mounted below the kubelet's root.
const aVolume = "pods/0a8f0f4e-0000-4000-8000-000000000000/volumes/kubernetes.io~csi/pvc-1/mount"

// steps does one after the other to the topmost mount of a directory.
func steps(t *testing.T, directory string, all []string) {
	t.Helper()
	for _, step := range all {
		var err error
		switch step {
		case "disk":
			err = unix.Mount("disk", directory, "tmpfs", 0, "")
		case "bind":
			err = unix.Mount(directory, directory, "", unix.MS_BIND, "")
		case "private":
			err = unix.Mount("", directory, "", unix.MS_PRIVATE, "")
		case "shared":
			err = unix.Mount("", directory, "", unix.MS_SHARED, "")
		}
		if err != nil {
			t.Fatalf("%s: %v", step, err)
		}
	}
}

// mountVolume mounts one with a file in it.
func mountVolume(t *testing.T, at string) {
	t.Helper()
	if err := unix.Mount("volume", at, "tmpfs", 0, ""); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(at, "rows.db"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// mend executes the first fix of a finding, each command twice: all are safe to
// be run again.
func mend(t *testing.T, f finding) {
	t.Helper()
	if len(f.Fixes) == 0 || len(f.Fixes[0].Commands) == 0 {
		t.Fatalf("%s has no command: %+v", f.Code, f.Fixes)
	}
	t.Logf("%s: %s", f.Code, f.Fixes[0].What)
	for _, command := range f.Fixes[0].Commands {
		run(t, command)
		run(t, command)
	}
}

// TestTheGuardedBindCoversNothing: the line that doctor has for a unit file makes
// its bind where nothing is mounted below, and only there.
func TestTheGuardedBindCoversNothing(t *testing.T) {
	harness.NeedsRoot(t)
	h := newServices(t)
	t.Cleanup(func() { unmountAll(t, h.root) })
	for range 3 {
		if err := unix.Mount(h.root, h.root, "", unix.MS_BIND, ""); err != nil {
			t.Fatal(err)
		}
	}
	h.containerd(harness.Service{})
	h.kubelet(harness.Service{})
	found := diagnose(t, "", "doctor").coded("no", "kubelet-stack")
	if len(found) != 1 {
		t.Fatalf("%+v", found)
	}
	line, ok := strings.CutPrefix(found[0].Fixes[0].Content, "ExecStartPre=/bin/sh -c '")
	line, ok2 := strings.CutSuffix(line, "'\n")
	if !ok || !ok2 {
		t.Fatalf("content %q", found[0].Fixes[0].Content)
	}
	unmountAll(t, h.root)

	volume := filepath.Join(h.root, "pods/v")
	if err := os.MkdirAll(volume, 0o755); err != nil {
		t.Fatal(err)
	}
	mountVolume(t, volume)
	run(t, line)
	if _, err := os.Stat(filepath.Join(volume, "rows.db")); err != nil {
		t.Errorf("it covers a volume: %v", err)
	}
	if got := mountsAt(t, h.root); got != 0 {
		t.Errorf("%d mounts at the root, over a volume", got)
	}
	if err := unix.Unmount(volume, 0); err != nil {
		t.Fatal(err)
	}
	run(t, line)
	run(t, line)
	if got := mountsAt(t, h.root); got != 1 {
		t.Errorf("%d mounts at the root, want the bind", got)
	}
}

// TestAnotherUsersProcessesAreNotTheNodes, whatever their names are.
func TestAnotherUsersProcessesAreNotTheNodes(t *testing.T) {
	harness.NeedsRoot(t)
	h := newServices(t)
	evil := filepath.Join(h.dir, "evil")
	for dir := h.dir; strings.HasPrefix(dir, "/run/mw"); dir = filepath.Dir(dir) { // for another user
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	start := func(name string, attr *syscall.SysProcAttr, args ...string) {
		t.Helper()
		program, err := harness.CopyProgram("/bin/sh", filepath.Join(evil, name))
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), program, append([]string{"-s", name}, args...)...)
		if _, err := cmd.StdinPipe(); err != nil { // it waits for a line
			t.Fatal(err)
		}
		cmd.SysProcAttr = attr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait() // it was killed
		})
	}
	ids := []syscall.SysProcIDMap{{ContainerID: 0, HostID: 65534, Size: 1}}
	start("containerd", &syscall.SysProcAttr{ // root in there
		Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS, UidMappings: ids, GidMappings: ids, Credential: &syscall.Credential{NoSetGroups: true},
	})
	start("kubelet", &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}, "--root-dir="+evil)
	h.containerd(harness.Service{})
	h.kubelet(harness.Service{})
	d := diagnose(t, "", "doctor")
	if got := d.problems(); len(got) > 0 {
		t.Errorf("problems: %q", got)
	}
	if roots := d.coded("yes", "kubelet-root"); len(roots) != 1 || roots[0].Subject != h.root || !strings.Contains(roots[0].Message, "it is of user 65534") {
		t.Errorf("root: %+v", roots)
	}
}

// problems are the codes and subjects of what is wrong.
func (d diagnosis) problems() (all []string) {
	for _, f := range d.Findings {
		if f.Answer == "no" {
			all = append(all, f.Code+" "+f.Subject)
		}
	}
	return all
}

// run runs a command line, and says nothing about its end: what counts is the
// state after it.
func run(t *testing.T, line string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "sh", "-c", line).CombinedOutput()
	t.Logf("$ %s\n%s%v", line, out, err)
}

// unmountAll unmounts all that is mounted at some directories and below.
func unmountAll(t *testing.T, dirs ...string) {
	t.Helper()
	for _, dir := range dirs {
		for n := 0; unix.Unmount(dir, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW) == nil; n++ {
			if n > 100 {
				t.Fatalf("%s has mounts without end", dir)
			}
		}
	}
	table, err := harness.Mountinfo(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range table {
		for _, dir := range dirs {
			if strings.HasPrefix(m.Point, dir+"/") {
				_ = unix.Unmount(m.Point, unix.MNT_DETACH) // one may have gone with another
			}
		}
	}
}

func mountsAt(t *testing.T, dir string) (count int) {
	t.Helper()
	table, err := harness.Mountinfo(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range table {
		if m.Point == dir {
			count++
		}
	}
	return count
}
