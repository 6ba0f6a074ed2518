package main

import (
	"context"
	"fmt"

	"github.com/containerd/nri/pkg/api"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
	"github.com/mountward/mountward/pkg/verify"
)

// StartContainer is the moment of truth: the container's mount namespace is
// final and its own code has not run. What was decided is compared with the
// kernel's tables, the deny rules are asked once more about what is really
// mounted, and the map of the task is recorded.
//
// What the specification could not carry is made true between, in the
// container's mount namespace, where that is switched on.
//
// An error stops the container. There are five reasons for one, all only in
// enforce mode and never for a static pod: a mount that the policy denies now
// that its real source is known; one that must be lowered and cannot; more
// propagation than was decided, still so on a second read; a hazard that the
// policy denies and that only the kernel's table shows; and, of a container that
// was created unseen, more than the policy allows. What cannot be told is
// recorded and refuses nothing.
func (p *plugin) StartContainer(ctx context.Context, pod *api.PodSandbox, c *api.Container) error {
	_, err := answer(ctx, p, handlerStart, pod, c,
		func(ctx context.Context, t *turn, container facts.Container, force *inForce) (struct{}, error) {
			return struct{}{}, p.start(ctx, t, container, int(c.GetPid()), force)
		})
	return err
}

const (
	// afterProof is where a test has a start overrun that has changed and proved
	// all.
	afterProof handler = "StartContainer:proved"
	// afterTask is where a test ends one whose record is on its way.
	afterTask handler = "StartContainer:recorded"
)

func (p *plugin) start(ctx context.Context, t *turn, container facts.Container, pid int, force *inForce) error {
	d := p.daemon
	entry, known, err := d.ledger().Get(container.ID)
	if err != nil {
		d.log().WithError(err).Error("cannot read what was decided; the start is not compared with it")
	}
	if !known {
		entry.Container, entry.Outcomes = container, unjudged(container.Mounts)
	}
	x := p.examine(ctx, container, pid, entry)
	defer x.close()
	unread := err != nil
	if unread {
		x.found("cannot-tell", "what was decided at creation cannot be read: "+err.Error())
	}

	var refusal error
	var unseen judged
	if !known {
		unseen = p.judge(ctx, x, force)
		refusal = unseen.exceeds()
	} else {
		refusal = p.stops(ctx, x, force)
	}
	hazards := x.hazards(force)
	if refusal == nil && known {
		refusal = deniedHazard(x, hazards)
	}
	why := refusal
	if refusal != nil && !x.refusable(force) {
		x.found("would-refuse-start", refusal.Error())
		unseen.findings = append(unseen.findings, x.findings...)
		refusal = nil
	}
	d.fault(afterProof)
	if !t.commit(ctx) {
		if !x.refusable(force) {
			d.rememberInside(x, force) // it was done, and the container goes on with it
		}
		return errOver
	}
	if why != nil {
		d.countRefusal(container, why, refusal != nil, force)
	}
	d.rememberInside(x, force)
	if known || unread {
		d.recordDrift(x, force, refusal)
	} else {
		d.miss(unseen, pid, force, refusal)
	}
	d.recordMountedHazards(x, force, hazards, refusal)
	if refusal != nil {
		d.markRecorded(container.ID)
		return refusal
	}
	if x.proven() {
		p.begin(x)
		if known {
			p.judgeStarted(entry, d.force.Load()) // a reload may just have passed it by
		}
	}
	p.recordTask(x, force)
	d.fault(afterTask)
	return nil
}

// refusable reports whether the container may be refused at all.
func (x *examination) refusable(force *inForce) bool {
	return force.policy.Mode == policy.ModeEnforce && force.refuse == nil && x.container.Pod.Static().Truth != facts.Yes
}

// stops makes true what can only be made true now, and returns why the container
// must not start.
func (p *plugin) stops(ctx context.Context, x *examination, force *inForce) error {
	if x.proven() {
		if o := p.deniedNow(ctx, x, force); o != nil {
			return &refusedMount{*o}
		}
	}
	if err := p.inside(ctx, x, force); err != nil || !x.proven() {
		return err
	}
	if len(verify.MoreThanDecided(x.proofs)) == 0 {
		return nil
	}
	// The host may have changed between the two tables: only what is still so
	// against the host's groups of now is true.
	if err := x.again(ctx); err != nil {
		x.found("cannot-tell", "the second read failed: "+err.Error())
		return nil
	}
	more := verify.MoreThanDecided(x.proofs)
	if len(more) == 0 {
		return nil
	}
	return fmt.Errorf("mountward: mount %s has more propagation than decided: %s", more[0].Destination, more[0].Reason)
}

// unjudged stands in for the outcomes of a container that we did not see
// created: it claims nothing, and the map can still be drawn.
func unjudged(mounts []facts.Mount) []facts.Outcome {
	outcomes := make([]facts.Outcome, 0, len(mounts))
	for _, m := range mounts {
		outcomes = append(outcomes, facts.Outcome{Mount: m, Asked: m.Requested(), Result: facts.Unchanged})
	}
	return outcomes
}
