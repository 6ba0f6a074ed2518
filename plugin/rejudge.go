package main

import (
	"context"
	"time"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
)

// The containers that share the most with their node, drivers and agents, can run
// for months: a policy that is tried in audit mode would be counted ready without
// ever having seen them. So what runs is judged when a policy comes into force, as
// it is when we connect. It is counted, not recorded, and nothing is changed.

// judgeByEach goes through what runs whenever another policy is in force, while the
// connection lasts.
func (p *plugin) judgeByEach(ctx context.Context) {
	for {
		select {
		case <-p.reloaded:
		case <-ctx.Done():
			return
		}
		if force := p.daemon.force.Load(); force.policy.Mode == policy.ModeAudit && p.daemon.standby.Load() == nil {
			p.judgeRunning(ctx, force)
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
		if ctx.Err() != nil || d.force.Load() != force {
			return
		}
		begun := time.Now()
		if container, ok := p.asAsked(id); ok {
			p.judgeAsAsked(ctx, container, force)
		}
		rest(ctx, min(time.Since(begun), syncRest))
	}
}

// asAsked returns a container that was proved to run and has not ended, as it was
// when it was judged first: with the mounts that it asked for.
func (p *plugin) asAsked(id string) (facts.Container, bool) {
	now, known := p.daemon.lives.get(id)
	if !known || now.ended || now.rootfs == "" {
		return facts.Container{}, false
	}
	entry, known, err := p.daemon.ledger().Get(id)
	if err != nil || !known {
		return facts.Container{}, false
	}
	c := entry.Container
	c.Pod.Annotations = now.container.Pod.Annotations // which no entry keeps
	c.Mounts = make([]facts.Mount, len(entry.Outcomes))
	for i, o := range entry.Outcomes {
		c.Mounts[i] = o.Mount
	}
	return c, true
}

func (p *plugin) judgeAsAsked(ctx context.Context, c facts.Container, force *inForce) {
	ctx, cancel := context.WithTimeout(ctx, syncTime)
	defer cancel()
	plan := p.daemon.request(ctx, p.host, &c, force, c.Pod.Static().Truth == facts.Yes, false)
	if ctx.Err() == nil {
		p.daemon.countRunning(judged{container: c, outcomes: plan.Outcomes, known: true}, force)
	}
}
