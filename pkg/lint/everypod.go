package lint

import (
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
)

// everyPod reports a policy that refuses every container for mounts that the
// kubelet and the runtime make for all of them.
func (l *linter) everyPod() {
	var first *facts.Mount
	var by policy.Decision
	for _, namespace := range []string{"default", "kube-system"} {
		c := l.plainest(namespace)
		refused := false
		for i, d := range l.policy.Decide(c, policy.Env{Vars: l.vars}, false) {
			if d.Action == facts.ActionDeny && !refused {
				refused, first, by = true, &c.Mounts[i], d
			}
		}
		if !refused {
			return
		}
	}
	var r *rule
	at := l.policy.DefaultAt()
	what := "the default"
	for i := range l.rules {
		if l.rules[i].Name == by.Rule {
			r, at, what = &l.rules[i], l.rules[i].At, l.rules[i].place()
		}
	}
	l.report(facts.LintEveryPod, r, at, "%s refuses every container: each has %s, a bind mount of %s; add an allow above for what the kubelet and the runtime make, as \"mountward explain %s\" shows",
		what, first.Destination, first.Source, facts.LintEveryPod)
}

// plainest is a container with the mounts that the kubelet and containerd make
// for every one of Kubernetes, and no other. Source: containerd 2.4.2
// internal/cri/server/container_create.go, kubernetes 1.37
// pkg/kubelet/kubelet_pods.go.
func (l *linter) plainest(namespace string) facts.Container {
	const uid, sandbox = "UID", "/io.containerd.grpc.v1.cri/sandboxes/ID"
	pod := l.vars.KubeletRoot + "/pods/" + uid
	bind := func(source, destination string) facts.Mount {
		return facts.Mount{
			Source: source, Destination: destination, Type: "bind", Options: []string{"rbind", "rprivate", "rw"},
			Host: &facts.HostMount{Canonical: source, MountPoint: "/", Device: facts.DeviceNumber{Major: 8}, Root: "/", State: facts.MountState{Peer: 1}}, // as systemd leaves it
		}
	}
	c := facts.Container{
		Name: "main", Image: "registry.example/app:1", Privileged: facts.Is(false, "a plain container"),
		Pod: facts.Pod{ID: "ID", Namespace: namespace, Name: "app-0", UID: uid},
		Mounts: []facts.Mount{
			bind(pod+"/etc-hosts", "/etc/hosts"),
			bind(pod+"/containers/main/1234abcd", "/dev/termination-log"),
			bind(l.vars.RuntimeRoot+sandbox+"/hostname", "/etc/hostname"),
			bind(l.vars.RuntimeRoot+sandbox+"/resolv.conf", "/etc/resolv.conf"),
			bind(l.vars.RuntimeState+sandbox+"/shm", "/dev/shm"),
		},
	}
	for i := range c.Mounts {
		c.Mounts[i].Volume, _ = facts.VolumeOf(&c, &c.Mounts[i], l.vars.KubeletRoot)
	}
	return c
}
