//go:build linux

package harness

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestWait(t *testing.T) {
	s := New(t, Config{})
	for command, want := range map[string]int{"mountinfo": 0, "no-such-command": 1} {
		id := s.RunOne(Container{Args: []string{command}})
		if got, err := s.Wait(t.Context(), id); err != nil || got != want {
			t.Errorf("%s: exit code = %d, %v; want %d", command, got, err, want)
		}
	}
}

// TestReadOnly has a mount below a read-only volume be writable, unless the
// volume is read-only as a whole.
func TestReadOnly(t *testing.T) {
	s := New(t, Config{})
	dir := TestHostDirs(t).Shared
	if _, err := dir.MountBelow("below"); err != nil {
		t.Fatal(err)
	}
	for _, recursive := range []bool{false, true} {
		id := s.RunOne(Container{Mounts: []ContainerMount{{
			HostPath: dir.Path, ContainerPath: "/data", ReadOnly: true, RecursiveReadOnly: recursive,
		}}})
		table := s.Table(id)
		for point, want := range map[string]bool{"/data": true, "/data/below": recursive} {
			m := table.At(point)
			if m == nil {
				t.Errorf("recursive %t: no mount on %s", recursive, point)
			} else if got := slices.Contains(m.Options, "ro"); got != want {
				t.Errorf("recursive %t: %s is read-only: %t, want %t", recursive, point, got, want)
			}
		}
	}
}

// TestHold has a container with an open file keep a mount of the host busy: the
// host's unmount reaches the container through propagation.
func TestHold(t *testing.T) {
	s := New(t, Config{})
	dir := TestHostDirs(t).Shared
	path, err := dir.MountBelow("volume")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("/data/volume", Marker)
	id := s.RunOne(Container{
		Args:   []string{"hold", file},
		Mounts: []ContainerMount{{HostPath: dir.Path, ContainerPath: "/data", Propagation: HostToContainer}},
	})
	pid, err := s.ContainerPID(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for !holds(t, pid, file) {
		time.Sleep(time.Millisecond)
	}
	if err := unix.Unmount(path, 0); !errors.Is(err, unix.EBUSY) {
		t.Errorf("unmount while the file is open: %v, want busy", err)
	}
	if err := s.StopContainer(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if err := unix.Unmount(path, 0); err != nil {
		t.Errorf("unmount after the container ended: %v", err)
	}
}

// holds says whether a process has a file open.
func holds(t *testing.T, pid int, file string) bool {
	t.Helper()
	fds, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(fds, func(fd string) bool {
		target, err := os.Readlink(fd)
		return err == nil && target == file
	})
}

func TestAgentFiles(t *testing.T) {
	s := New(t, Config{})
	id := s.RunOne(Container{})
	s.Output(id, "mkdir", "/tmp/a/b")
	s.Output(id, "write", "/tmp/a/b/c", "text")
	if got := s.Output(id, "cat", "/tmp/a/b/c"); got != "text" {
		t.Errorf("cat = %q, want text", got)
	}
	if got := s.Output(id, "ls", "/tmp/a"); got != "b\n" {
		t.Errorf("ls = %q, want b", got)
	}
	if _, err := s.Exec(t.Context(), id, "cat", "/none"); !errors.Is(err, ErrExec) {
		t.Errorf("error = %v, want that the command failed", err)
	}
}

// TestSteps takes a container through its life step by step.
func TestSteps(t *testing.T) {
	s := New(t, Config{})
	ctx := t.Context()
	pod, err := s.RunSandbox(ctx, Pod{Labels: map[string]string{"app": "x"}})
	if err != nil {
		t.Fatal(err)
	}
	id, err := s.CreateContainer(ctx, pod, Container{})
	if err != nil {
		t.Fatal(err)
	}
	if pid, err := s.ContainerPID(ctx, id); err == nil {
		t.Errorf("process of a container that was not started = %d", pid)
	}
	if err := s.StartContainer(ctx, id); err != nil {
		t.Fatal(err)
	}
	if pid, err := s.ContainerPID(ctx, id); err != nil || pid == 0 {
		t.Errorf("process = %d, %v", pid, err)
	}
	if err := errors.Join(
		s.StopContainer(ctx, id),
		s.RemoveContainer(ctx, id),
		s.RemoveSandbox(ctx, pod.ID),
	); err != nil {
		t.Error(err)
	}
}
