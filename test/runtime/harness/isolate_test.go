//go:build linux

package harness

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// childVariable makes TestChild, in a copy of this program that is isolated
// within the isolation of this one, do what a test does, and end as it says.
const childVariable = "MOUNTWARD_RUNTIME_TEST_CHILD"

// TestChild is no test. It leaves a node with a pod and mounts to be cleaned up
// by nobody but the isolation.
func TestChild(t *testing.T) {
	end := os.Getenv(childVariable)
	if end == "" {
		return
	}
	n, err := Start(Config{DefaultState: true})
	if err != nil {
		t.Fatal(err)
	}
	h, err := NewHostDirs(n.Dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = n.RunPod(t.Context(), Pod{Containers: []Container{{
		Mounts: []ContainerMount{{HostPath: h.Shared.Path, ContainerPath: "/data", Propagation: HostToContainer}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	_, group := currentStage()
	fmt.Printf("child runs in %s\n", group)
	switch end {
	case "stop":
		if err := n.Stop(); err != nil {
			t.Fatal(err)
		}
	case "fail":
		t.Fatal("fails as it was told to")
	case "panic":
		panic("panics as it was told to")
	case "hang":
		select {}
	}
}

// child is a running copy of this program.
type child struct {
	cmd    *exec.Cmd
	cgroup string
}

// startChild returns when the child has a pod.
func startChild(t *testing.T, end string) *child {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestChild$")
	cmd.Env = append(os.Environ(), childVariable+"="+end)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &child{cmd: cmd}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if name, ok := strings.CutPrefix(lines.Text(), "child runs in "); ok {
			c.cgroup = name
			break
		}
	}
	if c.cgroup == "" {
		t.Fatalf("child has no pod: %v", cmd.Wait())
	}
	if len(c.cgroups(t)) == 0 {
		t.Fatalf("child's cgroup %s does not exist", c.cgroup)
	}
	return c
}

func (c *child) cgroups(t *testing.T) []string {
	t.Helper()
	tops, err := cgroupHierarchies()
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, top := range tops {
		dir := filepath.Join(top, c.cgroup)
		if _, err := os.Stat(dir); err == nil {
			found = append(found, dir)
		}
	}
	return found
}

// machine is what a run could leave behind, as far as this program sees it.
type machine map[string]bool

func look(t *testing.T) machine {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	m := machine{}
	for line := range strings.Lines(string(mounts)) {
		m["mount "+line] = true
	}
	commands, err := filepath.Glob("/proc/[0-9]*/comm")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range commands {
		if comm, err := os.ReadFile(path); err == nil {
			m[path+" "+string(comm)] = true
		}
	}
	for _, dir := range []string{"/run", "/opt", "/etc/containerd", "/var/lib/containerd"} {
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err == nil {
				m[path] = true
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// waitFor looks until the machine has no more than before: what was killed takes
// a moment to end. What earlier tests ended may have taken as long.
func waitFor(t *testing.T, before machine) {
	t.Helper()
	var left machine
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		left = look(t)
		maps.DeleteFunc(left, func(thing string, _ bool) bool { return before[thing] })
		if len(left) == 0 {
			return
		}
	}
	t.Errorf("left behind: %q", slices.Sorted(maps.Keys(left)))
}

func TestIsolationLeavesNothing(t *testing.T) {
	NeedsRoot(t)
	tests := []struct {
		end    string
		signal unix.Signal
		code   int
	}{
		{end: "stop", code: 0},
		{end: "return", code: 0},
		{end: "fail", code: 1},
		{end: "panic", code: 2},
		{end: "hang", signal: unix.SIGINT, code: 130},
		{end: "hang", signal: unix.SIGTERM, code: 143},
	}
	for _, test := range tests {
		t.Run(fmt.Sprint(test.end, test.signal), func(t *testing.T) {
			before := look(t)
			c := startChild(t, test.end)
			if test.signal != 0 {
				if err := c.cmd.Process.Signal(test.signal); err != nil {
					t.Fatal(err)
				}
			}
			code := 0
			var exit *exec.ExitError
			if err := c.cmd.Wait(); errors.As(err, &exit) {
				code = exit.ExitCode()
			} else if err != nil {
				t.Fatal(err)
			}
			if code != test.code {
				t.Errorf("exit code = %d, want %d", code, test.code)
			}
			if left := c.cgroups(t); len(left) != 0 {
				t.Errorf("left behind: %q", left)
			}
			waitFor(t, before)
		})
	}
}

// TestKilledIsolationLeavesCgroupsOnly kills the outside, and has the next run
// remove what only the outside could have removed.
func TestKilledIsolationLeavesCgroupsOnly(t *testing.T) {
	NeedsRoot(t)
	before := look(t)
	killed := startChild(t, "hang")
	if err := killed.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := killed.cmd.Wait(); err == nil {
		t.Error("killed child ended well")
	}
	waitFor(t, before)

	next := startChild(t, "stop")
	if left := killed.cgroups(t); len(left) != 0 {
		t.Errorf("next run left the cgroups %q", left)
	}
	if err := next.cmd.Wait(); err != nil {
		t.Error(err)
	}
	waitFor(t, before)
}

// TestIsolated looks at the isolation from within.
func TestIsolated(t *testing.T) {
	NeedsRoot(t)
	if !Isolated() {
		t.Error("isolated = false")
	}
	mounts, err := Mountinfo(0)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mounts {
		if m.Shared == 0 || m.Master != 0 {
			t.Errorf("mount %s is %s, want shared", m.Point, m.Propagation())
		}
	}
	if got := os.TempDir(); got != workDir {
		t.Errorf("temporary directory = %s, want %s", got, workDir)
	}
}
