package main

import (
	"context"
	"errors"
	"io/fs"

	"github.com/mountward/mountward/pkg/apply"
	"github.com/mountward/mountward/pkg/audit"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/ledger"
)

// judged is what the policy of now says of a container that was created unseen.
type judged struct {
	container facts.Container
	outcomes  []facts.Outcome // as in audit mode: what would have been done
	findings  []facts.Finding
	known     bool   // the container and its mounts could be read
	runtime   string // that told of it
}

// judge decides about a container that nobody decided about when it was
// created. What it asked for is in the specification that the runtime executes,
// which has the privileges exactly; with what the runtime says, as at a
// creation, where that cannot be read.
func (p *plugin) judge(ctx context.Context, x *examination, force *inForce) judged {
	j := judged{container: x.container, known: x.proven(), runtime: p.host.runtime}
	if !x.proven() {
		j.findings = append(j.findings, x.findings...)
	} else if spec, err := p.host.view.Spec(ctx, x.bundle); err != nil {
		j.findings = append(j.findings, facts.Finding{Code: "cannot-tell", Message: "judged by what the runtime says, without privileges: " + reason(err)})
	} else {
		c := &j.container
		c.Mounts, c.Devices, c.Privileged, c.UserNamespace = spec.Mounts, spec.Devices, spec.Privileged, spec.UserNamespace
	}
	plan := p.daemon.request(ctx, p.host, &j.container, force, j.container.Pod.Static().Truth == facts.Yes, false)
	j.outcomes = plan.Outcomes
	j.findings = append(j.findings, plan.Findings...)
	return j
}

// exceeds returns why a container that was created unseen must not start: the
// policy refuses it, or gives it less propagation than it asked for and got.
func (j judged) exceeds() error {
	if !j.known {
		return nil
	}
	for _, o := range j.outcomes {
		switch {
		case o.Result == facts.Refused:
			return errors.New(apply.Refusal(o))
		case (o.Result == facts.Applied || o.Result == facts.Deferred) && o.Asked.Reach() > facts.Private.Reach() && o.Decided.Reach() < o.Asked.Reach():
			o.Reason = "created unseen; the next attempt gets " + o.Decided.Option()
			return errors.New(apply.Refusal(o))
		}
	}
	return nil
}

// miss records a container that was created unseen, and keeps an entry of it:
// it is told of once, and proved from now on by what it asked for.
func (d *daemon) miss(j judged, pid int, force *inForce, refusal error) {
	d.state.missed.Add(1)
	event := audit.Missed{
		Container: audit.ContainerOf(j.container), Policy: force.record(), PID: pid,
		Refused: refusal != nil, Outcomes: j.outcomes, Findings: j.findings,
	}
	if refusal != nil {
		event.Owner = refusal.Error()
	}
	d.trail.Load().Record(event)
	if refusal == nil {
		d.rememberMissed(j, force, false)
	}
}

// rememberMissed keeps the entry; recorded says that no record of the start is to
// come.
func (d *daemon) rememberMissed(j judged, force *inForce, recorded bool) {
	container := j.container
	container.Mounts, container.Hazards = nil, nil // the outcomes have them, or show them
	outcomes := make([]facts.Outcome, len(j.outcomes))
	for i, o := range j.outcomes {
		// Where the sources led when it was created is not known.
		o.Mount.Host, o.Mount.HostWhy = nil, "it was created unseen"
		outcomes[i] = o
	}
	err := d.ledger().Put(ledger.Entry{
		Container: container, Outcomes: outcomes, Created: d.now(), Runtime: j.runtime, Missed: true, Recorded: recorded,
		Mode: string(force.policy.Mode), PolicyName: force.policy.Name, PolicySHA256: force.policy.SHA256,
	})
	if err != nil {
		d.log().WithError(err).Error("cannot keep that a container was missed; it will be told of again")
	}
}

// count adds the container to the summary of a first start.
func (j judged) count(s *audit.FirstStart) {
	c := audit.ContainerOf(j.container)
	results := map[facts.Result]bool{}
	audited := len(j.findings) > 0
	for _, o := range j.outcomes {
		results[o.Result] = true
		audited = audited || len(o.Noted()) > 0
	}
	switch {
	case !j.known:
		s.Unknown.Add(c)
	case results[facts.Refused]:
		s.Refused.Add(c)
	case results[facts.Left]:
		s.Left.Add(c)
	case results[facts.Applied], results[facts.Deferred]:
		s.Changed.Add(c)
	case audited:
		s.Noted.Add(c)
	}
}

// vanished reports whether a container is no longer there, so that nothing is
// to be told of it: it ended since the runtime listed it.
func (x *examination) vanished(ctx context.Context) bool {
	if x.process == nil {
		return true
	}
	if x.bundle.Dir == "" {
		return false
	}
	_, err := x.host.view.Lookup(ctx, x.bundle.Dir)
	return errors.Is(err, fs.ErrNotExist)
}
