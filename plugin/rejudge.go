package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/ledger"
	"github.com/mountward/mountward/pkg/policy"
)

// The containers that share the most with their node, drivers and agents, can run
// for months: a policy that is tried in audit mode would be counted ready without
// ever having seen them. So what runs is judged when a policy comes into force, as
// it is when we connect. It is counted, not recorded, and nothing is changed.

// judgeByEach goes through what runs whenever another policy is in force, while the
// connection lasts. Before the runtime has told what runs, that is still to come.
func (p *plugin) judgeByEach(ctx context.Context) {
	for {
		select {
		case <-p.reloaded:
		case <-ctx.Done():
			return
		}
		force := p.daemon.force.Load()
		if force.policy.Mode == policy.ModeAudit && p.daemon.standby.Load() == nil && p.life.synced.Load() != nil {
			p.daemon.safely("the count of what a new policy would refuse", func() { p.judgeRunning(ctx, force) })
		}
	}
}

// anotherPolicy says that one is in force. It waits for nothing.
func (p *plugin) anotherPolicy() {
	select {
	case p.reloaded <- struct{}{}:
	default:
	}
}

func (p *plugin) judgeRunning(ctx context.Context, force *inForce) {
	d := p.daemon
	ids, err := d.ledger().List()
	if err != nil {
		d.log().WithError(err).Warn("cannot list what runs; status --ready-to-enforce counts only what is created from now on")
		return
	}
	for _, id := range ids {
		now := d.force.Load() // the same text can be loaded again meanwhile
		if ctx.Err() != nil || now.policy.SHA256 != force.policy.SHA256 || now.policy.Mode != force.policy.Mode {
			return
		}
		force = now
		begun := time.Now()
		p.judgeAsAsked(ctx, id, force)
		rest(ctx, min(time.Since(begun), syncRest))
	}
}

// judgeAsAsked counts what a policy in audit mode would do to a container that runs,
// with the mounts that it asked for and where these lead now.
func (p *plugin) judgeAsAsked(ctx context.Context, id string, force *inForce) {
	now, known := p.daemon.lives.get(id)
	if force.policy.Mode != policy.ModeAudit || !known || !now.runs() {
		return
	}
	entry, known, err := p.daemon.ledger().Get(id)
	if err != nil {
		p.notJudged(id, err)
		return
	}
	if !known {
		return // it was removed meanwhile
	}
	ctx, cancel := context.WithTimeout(ctx, syncTime)
	defer cancel()
	c := asAsked(entry)
	c.Pod.Annotations = now.container.Pod.Annotations // which no entry keeps
	plan := p.daemon.request(ctx, p.host, &c, force, c.Pod.Static().Truth == facts.Yes, false)
	if ctx.Err() != nil {
		if p.ctx.Err() == nil { // else the next connection goes through all
			p.notJudged(id, fmt.Errorf("where its mounts lead was not known within %s", syncTime))
		}
		return
	}
	p.daemon.countRunning(judged{container: c, outcomes: plan.Outcomes, known: true}, force)
}

// notJudged says that a container is not in the count: that nothing would be
// refused is not known of it.
func (p *plugin) notJudged(id string, err error) {
	p.daemon.log().WithError(err).Warnf("cannot tell what the policy would do to container %s, which runs; status --ready-to-enforce does not count it", id)
}

func asAsked(e ledger.Entry) facts.Container {
	c := e.Container
	c.Mounts = make([]facts.Mount, len(e.Outcomes))
	for i, o := range e.Outcomes {
		c.Mounts[i] = o.Mount
		c.Mounts[i].Host, c.Mounts[i].HostWhy = nil, ""
	}
	return c
}

// judgeStarted is judgeAsAsked for one that was created under another policy and
// has just started: nobody went through it.
func (p *plugin) judgeStarted(e ledger.Entry, force *inForce) {
	if force.policy.Mode != policy.ModeAudit || e.PolicySHA256 == force.policy.SHA256 {
		return
	}
	if !p.chores.add(func(ctx context.Context) { p.judgeAsAsked(ctx, e.Container.ID, force) }) {
		p.notJudged(e.Container.ID, errors.New("too much to do"))
	}
}
