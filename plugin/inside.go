package main

import (
	"context"
	"time"

	"github.com/mountward/mountward/pkg/apply"
	"github.com/mountward/mountward/pkg/audit"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
)

// insideTime bounds the work in a container's mount namespace, which takes less
// than a millisecond where no file system hangs. insideShare is the most of the
// handler's time that it gets: a proof must follow.
const (
	insideTime  = 500 * time.Millisecond
	insideShare = 0.5
)

// inside makes true in the container's mount namespace what the specification
// could not carry, compares anew where that changed anything, and returns why
// the container must not start. Where the process is not proved to be the
// container's nothing is done, and nothing refused.
func (p *plugin) inside(ctx context.Context, x *examination, force *inForce) error {
	d := p.daemon
	switch {
	case !d.settings.Apply.Namespace:
		x.inside = apply.CannotTell(x.entry.Outcomes, "apply.namespace was switched off between creation and start")
	case !x.proven():
		x.inside = apply.CannotTell(x.entry.Outcomes, "the process was not proved to be the container's: "+x.identity.Why)
	default:
		within := insideTime
		if end, ok := ctx.Deadline(); ok {
			within = min(within, time.Duration(insideShare*float64(time.Until(end))))
		}
		short, cancel := context.WithTimeout(ctx, within)
		defer cancel()
		x.inside = d.inside.Apply(short, apply.NamespaceRequest{
			Process: x.process, Table: x.table, Host: p.host.view, Outcomes: x.entry.Outcomes, Located: x.located, Lookup: x.lookup,
			Enforce:     force.policy.Mode == policy.ModeEnforce && force.refuse == nil,
			NeverRefuse: x.container.Pod.Static().Truth == facts.Yes,
			Raise:       policy.OnUnmet(d.settings.Guard.OnUnmetRaise),
			Lower:       policy.OnUnmet(d.settings.Guard.OnUnmetLower),
			Decide:      func(mounts []facts.Mount) []policy.Decision { return p.decideNow(ctx, x, force, mounts) },
		})
	}
	if x.inside.Idle() {
		return nil
	}
	x.entry.Outcomes = x.inside.Outcomes
	if !x.proven() {
		return x.inside.Refusal
	}
	if err := x.again(ctx); err != nil {
		x.found("cannot-tell", "the read after the change failed: "+err.Error())
		x.proofs = nil // what they say was before it
	}
	return x.inside.Refusal
}

// decideNow asks the policy about mounts of a container that was made, without
// those that were asked for.
func (p *plugin) decideNow(ctx context.Context, x *examination, force *inForce, mounts []facts.Mount) []policy.Decision {
	container := x.made(force)
	env := x.judged(ctx, &container, force, true)
	container.Mounts = mounts
	p.host.volumes(ctx, force.policy, &container, env.KubeletRoot)
	return force.policy.Decide(container, env, false)
}

// rememberInside keeps and records what was made true at start, or could not be.
func (d *daemon) rememberInside(x *examination, f *inForce) {
	if x.inside.Idle() {
		return
	}
	if err := d.ledger().Put(x.entry); err != nil {
		d.log().WithError(err).Error("cannot keep what was done at start; a later proof compares with what was to be done")
	}
	d.record(audit.Decision{
		Container: audit.ContainerOf(x.container), Policy: f.record(), Refused: x.inside.Refusal != nil && x.refusable(f),
		Outcomes: append(append([]facts.Outcome(nil), x.entry.Outcomes...), x.inside.Strays...), Findings: x.inside.Findings,
	})
}
