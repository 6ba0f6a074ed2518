package learn

import (
	"testing"

	"github.com/mountward/mountward/pkg/apply"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/lint"
	"github.com/mountward/mountward/pkg/policy"
	"github.com/mountward/mountward/pkg/policytest"
)

var node = policy.Vars{KubeletRoot: "/var/lib/kubelet", RuntimeState: "/run/containerd", RuntimeRoot: "/var/lib/containerd"}

// learned learns from containers and holds what was learned to its promises: all
// but the containers for which that is said are allowed as they are, the policy is
// clean, and its tests pass and reach every rule.
func learned(t testing.TB, containers ...facts.Container) (Learned, *policy.Policy) {
	t.Helper()
	l, err := Learn(Seen{From: "a test", Vars: node, Containers: containers})
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Parse(policy.File{Name: PolicyName, Data: l.Policy})
	if err != nil {
		t.Fatalf("the learned policy is refused: %v\n%s", err, l.Policy)
	}
	if p.Mode != policy.ModeAudit || p.Default != facts.ActionDeny {
		t.Errorf("mode %s, default %s", p.Mode, p.Default)
	}
	for _, f := range lint.Check(p, lint.Options{Vars: node}) {
		t.Errorf("lint: %s\n%s", f, l.Policy)
	}
	f, err := policytest.Parse(TestsName, l.Tests)
	if err != nil {
		t.Fatalf("the tests are refused: %v\n%s", err, l.Tests)
	}
	covered := policytest.NewCoverage(p)
	for _, c := range f.Cases {
		r := c.Run(p, daemon)
		covered.Add(r)
		for _, failure := range r.Failures {
			t.Errorf("test %q: mount %d: %s: want %s, got %s\n%s", c.Name, failure.Mount, failure.Key, failure.Want, failure.Got, l.Policy)
		}
	}
	if covered.Percent() != 100 {
		t.Errorf("the tests do not reach %v\n%s\n%s", covered.Missed(), l.Policy, l.Tests)
	}
	return l, p
}

func daemon(p *policy.Policy, c facts.Container, env policy.Env, h policytest.Host) policytest.Judged {
	plan, decisions := apply.Judge(p, &c, env, apply.Request{
		Enforce: true, Lower: policy.OnUnmetDeny, NeverRefuse: c.Pod.Static().Truth == facts.Yes,
		Table: func() (apply.MountTable, error) { return table(h.Mounts), nil },
	}, true)
	return policytest.Judged{Decisions: decisions, Outcomes: plan.Outcomes, Hazards: plan.Hazards}
}

type table []facts.HostMount

func (t table) First(at string) (hostview.Entry, bool) {
	for _, m := range t {
		if m.MountPoint == at {
			return hostview.Entry{MountPoint: at, State: m.State}, true
		}
	}
	return hostview.Entry{}, false
}

func (t table) Recheck(e hostview.Entry) (hostview.Entry, error) { return e, nil }

// running is a container with the mounts that every container has, and more.
func running(namespace, pod, name string, mounts ...facts.Mount) facts.Container {
	uid := "0c9bd0f5-4a6e-4d4a-9f0a-" + pod
	return facts.Container{
		ID: namespace + pod + name, Name: name, Privileged: facts.CannotTell("not looked at"),
		Pod: facts.Pod{Namespace: namespace, Name: pod, UID: uid},
		Mounts: append([]facts.Mount{
			{Destination: "/proc", Type: "proc", Source: "proc"},
			bind(node.KubeletRoot+"/pods/"+uid+"/etc-hosts", "/etc/hosts", facts.Private),
		}, mounts...),
	}
}

// actions decides about a container.
func actions(p *policy.Policy, c facts.Container) (all []facts.Action) {
	for i, d := range p.Decide(c, policy.Env{Vars: node}, false) {
		if c.Mounts[i].Bind() {
			all = append(all, d.Action)
		}
	}
	return all
}
