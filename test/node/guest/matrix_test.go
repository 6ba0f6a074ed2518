//go:build linux

package guest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/matrix"
)

// rows runs rows of the matrix, or all where all are wanted, and wants them
// proved by the mountward of a unit.
func (n *node) rows(t *testing.T, rows []matrix.Row, unit string) {
	t.Helper()
	if full() {
		rows = matrix.Rows()
	}
	s := newStack(t)
	pods := map[matrix.Rule]*pod{}
	var started []*pod
	for i, r := range rows {
		if pods[r.Rule] == nil {
			pods[r.Rule] = &pod{namespace: string(r.Rule), name: "matrix", uid: uid(700 + i), privileged: true}
			if err := n.runSandbox(t, pods[r.Rule]); err != nil {
				t.Fatal(err)
			}
		}
		p := *pods[r.Rule]
		p.container, p.privileged = fmt.Sprint("row-", i), r.Privileged
		t.Run(r.String(), func(t *testing.T) {
			if n.row(s.on(t), r, r.Dir(s.hostDirs()), &p) {
				started = append(started, &p)
			}
		})
	}
	s.proved(unit, started)
}

// row runs a container in a pod that is there, and says whether it runs.
func (n *node) row(s *stack, r matrix.Row, dir harness.HostDir, p *pod) bool {
	s.Helper()
	p.mounts = []*cri.Mount{{HostPath: dir.Path, ContainerPath: "/data", Propagation: propagation(r.Asked)}}
	err := n.runContainer(s.T, p)
	if refused, _ := r.Want(); refused != "" {
		if err == nil || !strings.Contains(err.Error(), refused) {
			s.Errorf("error = %v, want one with %q", err, refused)
		}
		return false
	}
	if err != nil {
		s.Error(err)
		return false
	}
	if err := r.Check(dir, seen{p.pid}); err != nil {
		s.Error(err)
	}
	return true
}

// hostDirs are directories of the host, for as long as the pods that see them.
func (s *stack) hostDirs() *harness.HostDirs {
	s.Helper()
	dirs, err := harness.NewHostDirs(s.dir())
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		if err := dirs.Close(); err != nil {
			s.Error(err)
		}
	})
	return dirs
}

// propagation is the runtime's word for what a pod asks for.
func propagation(asked harness.Propagation) cri.MountPropagation {
	return map[harness.Propagation]cri.MountPropagation{
		harness.None:            cri.MountPropagation_PROPAGATION_PRIVATE,
		harness.HostToContainer: cri.MountPropagation_PROPAGATION_HOST_TO_CONTAINER,
		harness.Bidirectional:   cri.MountPropagation_PROPAGATION_BIDIRECTIONAL,
	}[asked]
}

// proved waits until the start of every pod is recorded, which comes after the
// proof, and wants no other word about any.
func (s *stack) proved(unit string, pods []*pod) {
	s.Helper()
	since := s.recent()
	await(s.T, "the records of the starts", func() (any, error) {
		all, err := journal("MOUNTWARD_EVENT=task", "_SYSTEMD_UNIT="+unit, since)
		if err != nil {
			return nil, err
		}
		recorded := map[string]bool{}
		for _, e := range all {
			recorded[e.first("CONTAINER_ID_FULL")] = true
		}
		for _, p := range pods {
			if !recorded[p.id] {
				return nil, fmt.Errorf("none of %s, %s", p.container, p.id)
			}
		}
		return nil, nil
	})
	drift, err := journal("MOUNTWARD_EVENT=drift", "_SYSTEMD_UNIT="+unit, since)
	if err != nil {
		s.Fatal(err)
	}
	for _, e := range drift {
		s.Errorf("drift: %s\n%s", e.first("MESSAGE"), e.first("MOUNTWARD_RECORD"))
	}
}

// seen is a container as the rows look at it.
type seen struct{ pid int }

func (c seen) Table() (harness.Mounts, error) { return harness.Mountinfo(c.pid) }

func (c seen) Sees(name string) (bool, error) {
	_, err := os.Lstat(filepath.Join(fmt.Sprintf("/proc/%d/root/data", c.pid), name, harness.Marker))
	if os.IsNotExist(err) {
		return false, nil
	}
	return err == nil, err
}

func (c seen) Mount(path string) error {
	return inMountNamespace(c.pid, func() error {
		return errors.Join(os.Mkdir(path, 0o755), unix.Mount("inside", path, "tmpfs", 0, ""))
	})
}

func (c seen) Unmount(path string) error {
	return inMountNamespace(c.pid, func() error { return unix.Unmount(path, unix.UMOUNT_NOFOLLOW) })
}
