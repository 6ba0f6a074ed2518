//go:build linux

package main

import (
	"math/rand/v2"
	"slices"

	"github.com/mountward/mountward/test/runtime/harness"
)

// reach is how far mount events travel between the host and a mount of a
// container.
type reach int

const (
	nothing reach = iota
	down          // from the host to the container
	both
)

func (r reach) String() string { return [...]string{"nothing", "down", "both"}[r] }

// asks is what a request for a propagation would give without a policy.
func asks(p harness.Propagation) reach {
	return map[harness.Propagation]reach{harness.None: nothing, harness.HostToContainer: down, harness.Bidirectional: both}[p]
}

// volume is a mount of a container and what policy.toml says of it.
type volume struct {
	at    string // in the container
	asked harness.Propagation
	want  reach // what the policy makes of it: no more, no less
	deny  bool  // want is then what a static pod has, which is never refused
	slave bool  // its source receives from the host's master and is not shared
}

// shape is a kind of container.
type shape struct {
	name       string
	privileged bool
	volumes    []volume
}

// shapes are what the pods are made of: one for each thing that a policy can
// do, and one where one container has it all.
func shapes() []shape {
	var (
		allow = volume{at: "/allow", asked: harness.Bidirectional, want: both}
		lower = volume{at: "/lower", asked: harness.Bidirectional, want: down}
		shut  = volume{at: "/shut", asked: harness.HostToContainer, want: nothing}
		raise = volume{at: "/raise", asked: harness.None, want: down}
		open  = volume{at: "/open", asked: harness.None, want: both}
		deny  = volume{at: "/deny", asked: harness.Bidirectional, want: both, deny: true}
		plain = volume{at: "/plain", asked: harness.None, want: nothing}
	)
	slave := func(v volume) volume {
		v.slave = true
		return v
	}
	return []shape{
		{"allowed", true, []volume{allow}},
		{"lowered", true, []volume{lower}},
		{"shut", false, []volume{shut}},
		{"shut-slave", false, []volume{slave(shut)}},
		{"raised", false, []volume{raise}},
		{"raised-slave", false, []volume{slave(raise)}},
		{"opened", true, []volume{open}},
		{"denied", true, []volume{deny}},
		{"denied-among-others", true, []volume{raise, deny, plain}},
		{"unaffected", false, []volume{plain}},
		{"all", true, []volume{allow, lower, shut, raise, plain}},
	}
}

// denies says whether the policy refuses a container, unless its pod is static.
func (s shape) denies() bool {
	for _, v := range s.volumes {
		if v.deny {
			return true
		}
	}
	return false
}

// plan is a pod to be run.
type plan struct {
	static bool // as the kubelet marks a pod of its own directory
	users  bool // in a user namespace, where only the namespace applier can change a mount
	shapes []shape
}

func newPlan(rng *rand.Rand, namespace bool) plan {
	all := shapes()
	p := plan{static: rng.IntN(8) == 0, users: namespace && rng.IntN(2) == 0}
	if p.users {
		all = slices.DeleteFunc(all, func(s shape) bool { return s.privileged })
	}
	for range 1 + rng.IntN(3) {
		p.shapes = append(p.shapes, all[rng.IntN(len(all))])
	}
	return p
}

func (p plan) pod() harness.Pod {
	pod := harness.Pod{Namespace: "chaos", Privileged: !p.users, Users: p.idMap()}
	if p.static {
		pod.Annotations = map[string]string{"kubernetes.io/config.source": "file"}
	}
	return pod
}

func (p plan) idMap() *harness.IDMap {
	if !p.users {
		return nil
	}
	return &harness.IDMap{Host: 100_000, Length: 65_536}
}

// container is a shape as a container of a pod, which leaves a report.
func (c *chaos) container(s shape, name, report string, users *harness.IDMap) harness.Container {
	out := harness.Container{
		Name: name, Privileged: s.privileged, Args: []string{"report", reportDir + "/" + report},
		Mounts: []harness.ContainerMount{{HostPath: c.reports, ContainerPath: reportDir, Users: users}},
	}
	for _, v := range s.volumes {
		source := c.dirs.Shared.Path
		if v.slave {
			source = c.dirs.Slave.Path
		}
		out.Mounts = append(out.Mounts, harness.ContainerMount{HostPath: source, ContainerPath: v.at, Propagation: v.asked, Users: users})
	}
	return out
}

// reportDir is where every container has the directory of reports.
const reportDir = "/report"
