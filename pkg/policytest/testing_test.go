package policytest

import (
	"testing"

	"github.com/mountward/mountward/pkg/apply"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/policy"
)

// parsed returns a policy.
func parsed(t testing.TB, text string) *policy.Policy {
	t.Helper()
	p, err := policy.Parse(policy.File{Name: "p.toml", Data: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// daemon judges as the daemon does.
func daemon(p *policy.Policy, c facts.Container, env policy.Env, h Host) Judged {
	plan, decisions := apply.Judge(p, &c, env, apply.Request{
		Enforce: true, Lower: policy.OnUnmetDeny, NeverRefuse: c.Pod.Static().Truth == facts.Yes,
		Table: func() (apply.MountTable, error) { return table(h.Mounts), nil },
	}, true)
	return Judged{decisions, plan.Outcomes, plan.Hazards}
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
