//go:build linux

package harness

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMain(m *testing.M) { Main(m) }

func TestPodRuns(t *testing.T) {
	s := New(t, Config{})
	id := s.RunOne(Container{})
	if got := s.Output(id, "ls", "/"); !strings.Contains(got, "agent\n") {
		t.Errorf("ls / = %q, want the agent", got)
	}
	if root := s.Table(id).At("/"); root == nil || root.FSType != "overlay" {
		t.Errorf("root mount = %+v, want an overlay", root)
	}
	if args := s.OCI(id).Process.Args; len(args) != 2 || args[1] != "pause" {
		t.Errorf("process = %q, want the agent's pause", args)
	}
}

func TestStopLeavesNothing(t *testing.T) {
	NeedsRoot(t)
	n, err := Start(Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.RunPod(t.Context(), Pod{Containers: []Container{{}}}); err != nil {
		t.Error(err)
	}
	if err := n.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(n.Dir); !os.IsNotExist(err) {
		t.Errorf("stat node directory: %v, want it gone", err)
	}
	mounts, err := Mountinfo(0)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mounts {
		if strings.HasPrefix(m.Point, n.Dir) {
			t.Errorf("mount %s is left", m.Point)
		}
	}
}

// TestContainersOutliveContainerd kills containerd below a running pod.
func TestContainersOutliveContainerd(t *testing.T) {
	s := New(t, Config{})
	id := s.RunOne(Container{})
	for name, restart := range map[string]func() error{
		"restart": s.Restart,
		"kill": func() error {
			if err := s.Kill9(); err != nil {
				return err
			}
			return s.Restart()
		},
	} {
		pid := s.PID()
		if err := restart(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if s.PID() == pid {
			t.Errorf("%s: containerd is the same process", name)
		}
		if got := s.Output(id, "ls", "/proc/1"); !strings.Contains(got, "mountinfo") {
			t.Errorf("%s: ls /proc/1 = %q", name, got)
		}
	}
}

func TestDefaultState(t *testing.T) {
	s := New(t, Config{DefaultState: true})
	id := s.RunOne(Container{})
	if _, err := os.Stat(filepath.Join("/run/containerd/io.containerd.runtime.v2.task/k8s.io", id)); err != nil {
		t.Error(err)
	}
}

func TestImageSymlinks(t *testing.T) {
	s := New(t, Config{Symlinks: map[string]string{"var/run": "/run"}})
	id := s.RunOne(Container{Mounts: []ContainerMount{{HostPath: t.TempDir(), ContainerPath: "/var/run/x"}}})
	if s.Table(id).At("/run/x") == nil {
		t.Error("the mount on /var/run/x is not on /run/x")
	}
}

func TestUserNamespace(t *testing.T) {
	s := New(t, Config{})
	users := &IDMap{Host: 100000, Length: 65536}
	pod := s.Run(Pod{Users: users, Containers: []Container{{
		Name:   "main",
		Mounts: []ContainerMount{{HostPath: t.TempDir(), ContainerPath: "/data", Users: users}},
	}}})
	m := s.Table(pod.Containers["main"]).At("/data")
	if m == nil || !strings.Contains(strings.Join(m.Options, ","), "idmapped") {
		t.Errorf("mount = %+v, want it idmapped", m)
	}
}

func TestBrokenConfigIsReported(t *testing.T) {
	NeedsRoot(t)
	n, err := Start(Config{TOML: "[plugins.'io.containerd.nri.v1.nri']\n"})
	if err == nil {
		t.Fatal("no error for a table that is there twice", n.Stop())
	}
	if !strings.Contains(err.Error(), "containerd ended") {
		t.Errorf("error = %v, want that containerd ended", err)
	}
}
