//go:build linux

package guest

import (
	"fmt"
	"strings"
	"testing"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// hostAgent looks at the whole node, as those that collect figures or logs do,
// and its author did not think of propagation.
func hostAgent(uid string, readonly bool) *pod {
	return &pod{
		namespace: "monitoring", name: "node-agent", uid: uid,
		mounts: []*cri.Mount{{HostPath: "/", ContainerPath: "/host", Readonly: readonly}},
	}
}

// TestPins: a logical volume that LVM does not remove. What holds it is named
// with a cure, the cure is done as it is printed, and LVM removes it.
func TestPins(t *testing.T) {
	n := connect(t)
	s := newStack(t)
	s.vg("vg0", s.loop("a", 640))
	for _, test := range []struct {
		name string
		run  func(*stack, *node)
	}{
		{"nobody", heldByNobody},
		{"an agent", heldByAgent},
		{"all that an agent holds", allHeldByAgent},
		{"a service with copies of its own", heldByService},
		{"a service with a file open", heldByOpenFile},
		{"a namespace that a descriptor keeps", heldByDescriptor},
		{"a namespace that only a message keeps", heldByMessage},
		{"a lazy unmount", heldLazily},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(s.on(t), n) })
	}
}

// heldByNobody: also of a type that leaves no sign when it is mounted.
func heldByNobody(s *stack, _ *node) {
	for i, fsType := range []string{"ext4", "xfs"} {
		v := s.publish("pvc-"+fsType, uid(500+i), fsType)
		v.unmount(nil)
		v.free()
	}
	raw := &publishedLV{stack: s, name: "vg0/raw", device: "/dev/vg0/raw"}
	raw.create("--size", "16M")
	raw.free()
}

// heldByAgent is the mission's own story.
func heldByAgent(s *stack, n *node) {
	v := s.publish("pvc-1", uid(510), "xfs")
	user := &pod{namespace: "db", name: "db-0", uid: uid(510), mounts: volumeMounts(v.path)}
	n.start(s.T, user)
	agent := hostAgent(uid(511), false)
	n.start(s.T, agent)
	s.heldBy(s.pins(exitFound, v.name), "mount container db/db-0/main", "mount container monitoring/node-agent/main", "mount host own")
	if all := ask[pinsAnswer](s.T, exitSound, "pins", "--all"); len(all.Targets) != 0 {
		s.Errorf("a volume in use is no pin: %+v", all.Targets)
	}

	n.remove(s.T, user)
	v.unmount(nil)
	v.busy()
	r := s.pins(exitFound, v.name)
	s.heldBy(r, "mount container monitoring/node-agent/main")
	h := s.holder(r, "mount")
	if len(h.Mounts) != 1 || h.Mounts[0].MountPoint != "/host"+v.path || h.Mounts[0].Propagation != "private copy" {
		s.Errorf("mounts %+v, want a private copy at /host%s", h.Mounts, v.path)
	}
	if h.Owner.ContainerID != agent.id || len(h.Processes) == 0 || h.Processes[0].PID != agent.pid {
		s.Errorf("holder %+v, want process %d of container %s", h, agent.pid, agent.id)
	}
	if r.Alive.Answer != "yes" {
		s.Errorf("alive is %+v", r.Alive)
	}
	s.Logf("mountward pins %s:\n%s", v.name, printed(s.T, "pins", v.name))
	s.cured(h, "umount -N ")
	v.free()
}

// printed is what a person reads.
func printed(t *testing.T, args ...string) string {
	t.Helper()
	out, err := run("/usr/bin/mountward", args...)
	if out == "" {
		t.Errorf("mountward %q prints nothing: %v", args, err)
	}
	return out
}

// allHeldByAgent: the volumes of two pods that are gone, found without a name,
// and let go at once.
func allHeldByAgent(s *stack, n *node) {
	var all []*publishedLV
	for i := range 2 {
		all = append(all, s.publish(fmt.Sprint("pvc-", i), uid(520+i), "ext4"))
	}
	agent := agentPod(s.T, uid(522)) // has the directories of all pods
	n.start(s.T, agent)
	for _, v := range all {
		v.unmount(nil)
		v.busy()
	}
	other := s.publish("pvc-unused", uid(523), "ext4")
	other.unmount(nil)

	a := ask[pinsAnswer](s.T, exitFound, "pins", "--all")
	var names []string
	for _, r := range a.Targets {
		names = append(names, r.Target.Name)
		s.evident(r)
		s.heldBy(r, "mount container monitoring/log-cleaner/main")
	}
	s.equal("held volumes", []string{"vg0/pvc-0", "vg0/pvc-1"}, names)
	if len(a.Groups) != 1 || !strings.Contains(a.Groups[0].Holder, "monitoring/log-cleaner") || a.Groups[0].Mounts != 2 || a.Groups[0].DeadPods != 2 {
		s.Errorf("groups %+v, want the 2 mounts of 2 dead pods in one", a.Groups)
	}
	if len(a.Targets) > 0 {
		s.cured(s.holder(a.Targets[0], "mount"), "crictl stop ")
	}
	if a := ask[pinsAnswer](s.T, exitSound, "pins", "--all"); len(a.Targets) != 0 {
		s.Errorf("still held: %+v", a.Targets)
	}
	for _, v := range append(all, other) {
		v.free()
	}
}
