//go:build linux

package guest

import (
	"os"
	"path/filepath"
	"testing"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/mountward/mountward/test/runtime/harness"
)

// withoutAWord is T18: a bind without a propagation word is a peer of its host
// mount beside one that is Bidirectional. Where that is lowered, no mount of the
// container may reach the host by either. A CDI device brings it, which we see
// in the specification, or a plugin after us, for which mounts must be changed
// inside.
func (n *node) withoutAWord(s *stack, inside bool) {
	plain := s.dir()
	s.made("/etc/cdi")
	s.Cleanup(func() {
		if err := os.Remove("/etc/cdi/plain.json"); err != nil {
			s.Error(err)
		}
	})
	s.writeJSON("/etc/cdi/plain.json", map[string]any{
		"cdiVersion": "0.6.0", "kind": "example.com/plain",
		"devices": []any{map[string]any{"name": "dir", "containerEdits": map[string]any{
			"mounts": []any{map[string]any{"hostPath": plain, "containerPath": "/plain", "options": []string{"rbind", "rw"}}},
		}}},
	})
	device := []string{"example.com/plain=dir"}
	for i, test := range []struct {
		name, namespace string
		cdi             []string // else a plugin
		leaks           bool     // /plain; /data does unless it is lowered
	}{
		{"of a device beside one lowered to rslave", "set-rslave", device, false},
		{"of a device beside one lowered to rprivate", "set-rprivate", device, false},
		{"of a device beside one left as it is", "none", device, true},
		{"of a later plugin", "set-rprivate", nil, !inside},
	} {
		s.Run(test.name, func(t *testing.T) {
			s := s.on(t)
			if test.cdi == nil {
				s.otherPlugin("95", test.namespace, "/plain", plain, "rbind,rw")
			}
			data := s.dir()
			p := &pod{namespace: test.namespace, name: "gpu", uid: uid(730 + i), privileged: true, cdi: test.cdi}
			p.mounts = []*cri.Mount{{HostPath: data, ContainerPath: "/data", Propagation: cri.MountPropagation_PROPAGATION_BIDIRECTIONAL}}
			n.start(t, p)
			s.leaks(p, "/plain", plain, test.leaks)
			s.leaks(p, "/data", data, test.namespace == "none")
		})
	}
}

// leaks mounts something in a container, and wants it to be on the host or not.
func (s *stack) leaks(p *pod, path, host string, want bool) {
	s.Helper()
	m := mountOf(s.T, p, path)
	if got := m.Shared == rootGroup(s.T); got != want {
		s.Errorf("%s is %s in the host's group: %t, want %t", path, m.Propagation(), got, want)
	}
	c, name := seen{p.pid}, "made"
	if err := c.Mount(filepath.Join(path, name)); err != nil {
		s.Fatal(err)
	}
	if on, err := harness.Mounted(filepath.Join(host, name)); err != nil || on != want {
		s.Errorf("a mount made in %s is on the host: %t, %v, want %t", path, on, err, want)
	}
	if err := c.Unmount(filepath.Join(path, name)); err != nil {
		s.Error(err)
	}
	if err := inMountNamespace(p.pid, func() error { return os.Remove(filepath.Join(path, name)) }); err != nil {
		s.Error(err)
	}
}
