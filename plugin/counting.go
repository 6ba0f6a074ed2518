package main

import (
	"errors"

	"github.com/mountward/mountward/pkg/apply"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
	"github.com/mountward/mountward/pkg/rollout"
)

// refusedMount is why a container must not start, where that is one mount which
// a rule denies.
type refusedMount struct{ facts.Outcome }

func (r *refusedMount) Error() string { return apply.Refusal(r.Outcome) }

// countDecision counts a creation that is answered, and what an enforced policy
// would have answered.
func (d *daemon) countDecision(c facts.Container, plan apply.Plan, f *inForce) {
	d.state.decided(d.now())
	if plan.Refusal != nil {
		d.state.refusals.Add(1)
		return
	}
	if f.policy.Mode != policy.ModeAudit {
		return
	}
	d.rollout.Created(f.counted())
	for _, o := range plan.Outcomes {
		if o.Would && o.Result == facts.Refused {
			d.countWould(c, &refusedMount{o}, f, false)
			return // a container is refused once
		}
	}
}

// countRunning counts a container that runs, and that the policy has not judged
// when it was created: it would be refused when it is made anew.
func (d *daemon) countRunning(j judged, f *inForce) {
	for _, o := range j.outcomes {
		if j.known && o.Result == facts.Refused {
			d.countWould(j.container, &refusedMount{o}, f, true)
			return
		}
	}
}

// countRefusal counts a refusal after the creation: by the validation or at the
// start.
func (d *daemon) countRefusal(c facts.Container, why error, refused bool, f *inForce) {
	if refused {
		d.state.refusals.Add(1)
		return
	}
	d.countWould(c, why, f, false)
}

// countWould counts a refusal that there would have been, of a container that is
// created or started, or that runs. A static pod is never refused.
func (d *daemon) countWould(c facts.Container, why error, f *inForce, running bool) {
	if f.policy.Mode != policy.ModeAudit || c.Pod.Static().Truth == facts.Yes {
		return
	}
	r := rollout.Refusal{
		PodUID:  c.Pod.UID,
		Example: rollout.Example{Namespace: c.Pod.Namespace, Pod: c.Pod.Name, Container: c.Name, Reason: why.Error()},
		Running: running,
	}
	var mount *refusedMount
	if errors.As(why, &mount) {
		r.Rule, r.Position, r.Example.Mount = mount.Rule, mount.Position, mount.Mount.Destination
	}
	if d.rollout.Would(f.counted(), r, d.now()) {
		d.state.would.Add(1)
	}
}

// counted is the policy as the roll-out knows it.
func (f *inForce) counted() rollout.Policy {
	return rollout.Policy{SHA256: f.policy.SHA256, Name: f.policy.Name, Mode: string(f.policy.Mode)}
}
