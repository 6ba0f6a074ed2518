//go:build linux

package harness

import (
	"errors"
	"path/filepath"
	"testing"
)

// sees says whether a container sees the marker of a mount below /data.
func sees(t *testing.T, s *Suite, id, name string) bool {
	t.Helper()
	_, err := s.Exec(t.Context(), id, "cat", filepath.Join("/data", name, Marker))
	if err != nil && !errors.Is(err, ErrExec) {
		t.Fatal(err)
	}
	return err == nil
}

// TestLaterHostMount is what propagation means: whether a mount that the host
// makes below a volume after the container started arrives in the container.
func TestLaterHostMount(t *testing.T) {
	s := New(t, Config{})
	tests := []struct {
		name        string
		propagation Propagation
		dir         func(*HostDirs) HostDir
		mount       func(HostDir, string) (string, error)
		want        bool
		table       string
	}{
		{"private", None, sharedDir, HostDir.MountBelow, false, "private"},
		{"slave", HostToContainer, sharedDir, HostDir.MountBelow, true, "private,slave"},
		{"shared", Bidirectional, sharedDir, HostDir.MountBelow, true, "shared"},
		{"slave of a slave, mounted in place", HostToContainer, slaveDir, HostDir.MountBelow, false, "private,slave"},
		{"slave of a slave, mounted at the master", HostToContainer, slaveDir, HostDir.MountAtMaster, true, "private,slave"},
		{"private of a slave", None, slaveDir, HostDir.MountAtMaster, false, "private"},
		{"private of a private", None, privateDir, HostDir.MountBelow, false, "private"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := s.In(t)
			dir := test.dir(TestHostDirs(t))
			id := s.RunOne(Container{
				Privileged: test.propagation == Bidirectional,
				Mounts:     []ContainerMount{{HostPath: dir.Path, ContainerPath: "/data", Propagation: test.propagation}},
			})
			later, err := test.mount(dir, "later")
			if err != nil {
				t.Fatal(err)
			}
			if on, err := Mounted(later); err != nil || !on {
				t.Fatalf("mounted(%s) = %t, %v", later, on, err)
			}
			if got := sees(t, s, id, "later"); got != test.want {
				t.Errorf("container sees the mount: %t, want %t", got, test.want)
			}
			if got := s.Table(id).At("/data").Propagation(); got != test.table {
				t.Errorf("propagation = %s, want %s", got, test.table)
			}
		})
	}
}

func sharedDir(h *HostDirs) HostDir  { return h.Shared }
func privateDir(h *HostDirs) HostDir { return h.Private }
func slaveDir(h *HostDirs) HostDir   { return h.Slave }

// TestRefusedPropagation has the runtime itself refuse what the source cannot
// give.
func TestRefusedPropagation(t *testing.T) {
	s := New(t, Config{})
	dir := TestHostDirs(t).Private.Path
	for _, propagation := range []Propagation{HostToContainer, Bidirectional} {
		_, err := s.RunPod(t.Context(), Pod{Containers: []Container{{
			Privileged: true,
			Mounts:     []ContainerMount{{HostPath: dir, ContainerPath: "/data", Propagation: propagation}},
		}}})
		if err == nil {
			t.Errorf("propagation %d of a private mount: no error", propagation)
		}
	}
}

// TestContainerMount is the other direction: a mount that a container makes
// below a bidirectional volume is on the host, and goes from there again.
func TestContainerMount(t *testing.T) {
	s := New(t, Config{})
	dir := TestHostDirs(t).Shared
	for propagation, want := range map[Propagation]bool{HostToContainer: false, Bidirectional: true} {
		id := s.RunOne(Container{
			Privileged: true,
			Mounts:     []ContainerMount{{HostPath: dir.Path, ContainerPath: "/data", Propagation: propagation}},
		})
		s.Output(id, "mount-tmpfs", "/data/driver")
		host := filepath.Join(dir.Path, "driver")
		if on, err := Mounted(host); err != nil || on != want {
			t.Errorf("propagation %d: mounted on the host = %t, %v; want %t", propagation, on, err, want)
		}
		s.Output(id, "umount", "/data/driver")
		if on, err := Mounted(host); err != nil || on {
			t.Errorf("propagation %d: still mounted on the host = %t, %v", propagation, on, err)
		}
	}
}
