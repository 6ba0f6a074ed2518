package main

import (
	"slices"

	"github.com/mountward/mountward/pkg/apply"
	"github.com/mountward/mountward/pkg/audit"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hazard"
	"github.com/mountward/mountward/pkg/policy"
	"github.com/mountward/mountward/pkg/settings"
	"github.com/mountward/mountward/pkg/verify"
)

func (f inForce) record() audit.Policy {
	return audit.Policy{Name: f.policy.Name, SHA256: f.policy.SHA256, Mode: string(f.policy.Mode)}
}

func (f inForce) source() string {
	if f.refuse != nil {
		return audit.FromNothing
	}
	return string(f.origin)
}

func (d *daemon) recordLoaded(f inForce) {
	d.trail.Load().Record(audit.PolicyLoaded{
		Policy: f.record(), Source: f.source(), Default: string(f.policy.Default), Rules: len(f.policy.Rules), DropIns: f.policy.DropIns,
	})
}

// recordRejected tells why the configured policy is not in force, and what is.
func (d *daemon) recordRejected(err error, f inForce, stays bool) {
	d.trail.Load().Record(audit.PolicyRejected{
		Name: d.settings.Policy, Errors: audit.PolicyErrors(err),
		InForce: audit.InForce{Policy: f.record(), Source: f.source(), Stays: stays},
	})
}

// recordDecision records a creation about which there is something to say.
func (d *daemon) recordDecision(c facts.Container, plan apply.Plan, f *inForce) {
	if d.settings.Audit.Decisions != settings.DecisionsAll && !noteworthy(plan) {
		return
	}
	event := audit.Decision{
		Container: audit.ContainerOf(c), Policy: f.record(),
		Refused: plan.Refusal != nil, Outcomes: plan.Outcomes, Findings: plan.Findings,
	}
	if plan.Refusal != nil {
		event.Owner = plan.Refusal.Error()
	}
	d.record(event)
}

// record holds back what a looping pod repeats.
func (d *daemon) record(event audit.Decision) {
	repeated, ok := d.repeats.See(audit.KeyOf(event), d.now())
	if !ok {
		return
	}
	event.Repeated = repeated
	d.trail.Load().Record(event)
}

// noteworthy reports whether something was changed, left, refused or would
// have been, or an audit rule matched.
func noteworthy(plan apply.Plan) bool {
	if len(plan.Findings) > 0 || plan.Refusal != nil {
		return true
	}
	for _, o := range plan.Outcomes {
		if o.Result != facts.Unchanged || len(o.Noted()) > 0 {
			return true
		}
	}
	return false
}

// recordRefusal records a creation refused before anything was decided.
func (d *daemon) recordRefusal(c facts.Container, f *inForce, err error) {
	d.record(audit.Decision{Container: audit.ContainerOf(c), Policy: f.record(), Refused: true, Owner: err.Error()})
}

// recordRejection records that the final list of mounts is not what the policy
// allows.
func (d *daemon) recordRejection(c facts.Container, f *inForce, err error, refused bool) {
	event := audit.Decision{
		Container: audit.ContainerOf(c), Policy: f.record(), Refused: refused,
		Findings: []facts.Finding{{Code: "final-list", Message: err.Error()}},
	}
	if refused {
		event.Owner = err.Error()
	}
	d.record(event)
}

// recordDrift records a proof that did not come out the same, or a refusal.
func (d *daemon) recordDrift(x *examination, f *inForce, refusal error) {
	same := refusal == nil && len(x.findings) == 0
	for _, p := range x.proofs {
		same = same && p.Verdict == verify.Same
	}
	if same {
		return
	}
	event := audit.Drift{
		Container: audit.ContainerOf(x.container), Policy: f.record(), PID: x.pid,
		Refused: refusal != nil, Proofs: x.proofs, Findings: x.findings,
	}
	if refusal != nil {
		event.Owner = refusal.Error()
	}
	d.trail.Load().Record(event)
}

// recordHazards records the hazards of a creation: in enforce mode those of the
// list that the runtime gets. In audit mode it gets the asked one, and what
// would have been decided is recorded beside it.
func (d *daemon) recordHazards(c facts.Container, plan apply.Plan, f *inForce) {
	event := audit.Hazard{Refused: plan.Refusal != nil, Hazards: plan.Hazards}
	if f.policy.Mode != policy.ModeEnforce {
		event.Hazards = append(event.Hazards, f.policy.Judge(hazard.Without(c.Hazards, plan.Hazards))...)
	}
	event.Denied = plan.Refusal == nil && slices.ContainsFunc(plan.Hazards, denies)
	d.recordHazard(c, f, event)
}

// recordMountedHazards records what only the kernel's table shows.
func (d *daemon) recordMountedHazards(x *examination, f *inForce, hazards []facts.Hazard, refusal error) {
	d.recordHazard(x.container, f, audit.Hazard{
		Refused: refusal != nil, Hazards: hazards, Denied: refusal == nil && slices.ContainsFunc(hazards, denies),
	})
}

func denies(h facts.Hazard) bool { return h.Action == facts.HazardDeny }

func (d *daemon) recordHazard(c facts.Container, f *inForce, event audit.Hazard) {
	if len(event.Hazards) == 0 {
		return
	}
	event.Container, event.Policy = audit.ContainerOf(c), f.record()
	repeated, ok := d.repeats.See(audit.KeyOfHazard(event), d.now())
	if !ok {
		return
	}
	event.Repeated = repeated
	d.trail.Load().Record(event)
}
