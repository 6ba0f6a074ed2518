//go:build linux

package guest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// exposureAnswer is what "mountward exposure -o json" prints, as far as it is
// tested.
type exposureAnswer struct {
	Schema  string
	Node    struct{ Hostname string }
	Viewers []viewer
	Writers []viewer
}

type viewer struct {
	Kind, Pod, Namespace, Unit string
	ContainerID                string `json:"container_id"`
	PIDs                       []int
	Privileged                 answered
	Own                        answered
	Can                        answered `json:"can_mount"`
	Paths                      []reached
	Mounts                     []struct {
		Path      string
		HostPaths []string `json:"host_paths"`
		Shared    answered
	}
	Users []struct{ UID int }
}

type reached struct {
	Path     string
	Through  struct{ Kind, Source, Copy string }
	Writable answered
	Own      answered
	Evidence []struct{ Text, Show string }
}

// exposure asks who reaches a target.
func (s *stack) exposure(code int, args ...string) exposureAnswer {
	s.Helper()
	return ask[exposureAnswer](s.T, code, append([]string{"exposure"}, args...)...)
}

// of is the viewer that a pod's container is.
func (s *stack) of(all []viewer, p *pod) viewer {
	s.Helper()
	i := slices.IndexFunc(all, func(v viewer) bool { return v.ContainerID == p.id })
	if i < 0 {
		s.Fatalf("%s is not there: %+v", p.name, all)
	}
	if v := all[i]; v.Pod != p.name || v.Namespace != p.namespace || !slices.Contains(v.PIDs, p.pid) {
		s.Errorf("viewer %+v, want process %d of %s/%s", v, p.pid, p.namespace, p.name)
	}
	return all[i]
}

// TestExposure: the volume of a pod, which an agent with the whole node
// read-only can write to, and does.
func TestExposure(t *testing.T) {
	n := connect(t)
	s := newStack(t)
	s.vg("vg0", s.loop("a", 64))
	v := s.publish("pvc-1", uid(610), "ext4")
	s.exposure(exitSound, v.name) // the node itself does not count
	user := &pod{namespace: "db", name: "db-0", uid: uid(610), mounts: volumeMounts(v.path)}
	n.start(t, user)
	agent := hostAgent(uid(611), true)
	n.start(t, agent)

	for _, target := range []string{v.name, number(t, v.device), v.path, "db/db-0"} {
		a := s.exposure(exitFound, target)
		if a.Schema != "mountward.exposure/v1" {
			s.Errorf("schema %q", a.Schema)
		}
		foreign := s.of(a.Viewers, agent)
		if foreign.Own.Answer != "no" || foreign.Privileged.Answer != "no" || len(foreign.Users) != 1 || foreign.Users[0].UID != 0 {
			s.Errorf("%s: the agent is %+v", target, foreign)
		}
		i := slices.IndexFunc(foreign.Paths, func(r reached) bool { return r.Path == "/host"+v.path })
		if i < 0 {
			s.Fatalf("%s: paths %+v, want /host%s", target, foreign.Paths, v.path)
		}
		if r := foreign.Paths[i]; r.Writable.Answer != "yes" || r.Through.Kind != "host-root" || r.Through.Source != "/" || len(r.Evidence) == 0 {
			s.Errorf("%s: path %+v, want a writable one through /", target, r)
		}
		own := s.of(a.Viewers, user)
		if own.Own.Answer != "yes" || !slices.ContainsFunc(own.Paths, func(r reached) bool { return r.Path == "/data" && r.Writable.Answer == "yes" }) {
			s.Errorf("%s: the pod itself is %+v, want its own at /data", target, own)
		}
	}
	s.Logf("mountward exposure %s:\n%s", v.name, printed(t, "exposure", v.name))

	// It is as it is told.
	if out, err := n.exec(t, agent, "write", "/host"+v.path+"/file", "by the agent"); err != nil {
		s.Errorf("the agent cannot write: %v %s", err, out)
	}
	if out, err := n.exec(t, user, "cat", "/data/file"); err != nil || out != "by the agent" {
		s.Errorf("the pod reads %q, %v", out, err)
	}
	if _, err := n.exec(t, agent, "write", "/host/var/tmp/file", ""); err == nil {
		s.Error("the agent can write to the root, which it has read-only")
	}

	n.remove(t, user)
	n.remove(t, agent)
	s.exposure(exitSound, v.name)
	t.Run("who could mount onto the host", func(t *testing.T) { writers(s.on(t), n) })
	v.unmount(nil)
	v.do("lvremove", "--quiet", "--yes", v.name)
}

// writers: a driver, as it must be, and nobody else.
func writers(s *stack, n *node) {
	if a := s.exposure(exitSound, "--writers"); slices.ContainsFunc(a.Writers, func(v viewer) bool { return v.Kind == "container" }) {
		s.Errorf("without a container: %+v", a.Writers)
	}
	csi := &pod{namespace: "kube-system", name: "csi-node", uid: uid(612), privileged: true, mounts: []*cri.Mount{
		{HostPath: kubeletRoot, ContainerPath: kubeletRoot, Propagation: cri.MountPropagation_PROPAGATION_BIDIRECTIONAL},
	}}
	n.start(s.T, csi)
	n.start(s.T, hostAgent(uid(613), false))
	a := s.exposure(exitFound, "--writers")
	var able []string
	for _, w := range a.Writers {
		if w.Kind == "container" && w.Can.Answer != "no" {
			able = append(able, w.Pod)
		}
	}
	s.equal("who could mount onto the host", []string{"csi-node"}, able)
	w := s.of(a.Writers, csi)
	if len(w.Mounts) == 0 || w.Mounts[0].Shared.Answer != "yes" || !strings.Contains(fmt.Sprint(w.Mounts), kubeletRoot) {
		s.Errorf("the driver is %+v, want a mount shared with the host at %s", w, kubeletRoot)
	}
	s.exposure(exitFound, "--writers", podsDir)
}
