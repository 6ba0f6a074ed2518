package main

import (
	"context"
	"errors"
	"time"

	"github.com/mountward/mountward/pkg/audit"
	"github.com/mountward/mountward/pkg/control"
)

// standbyPause is how often an instance that stands aside looks whether the one
// that decides is gone. It looks at every request as well.
const standbyPause = 500 * time.Millisecond

// standBy takes the lock of the node, or stands aside. Where there can be no
// lock there is no second instance that could see it either: better two that
// decide than none.
func (d *daemon) standBy() {
	err := d.lock.Take(d.settings.RuntimeDir)
	switch {
	case err == nil:
	case errors.Is(err, control.ErrHeld):
		a := &aside{why: err.Error(), idle: true}
		d.standby.Store(a)
		d.aside.Store(a)
		event := d.connectionEvent(audit.StandingAside)
		event.Why, event.Next = err.Error(), "it takes over when that one is gone"
		d.trail.Load().Record(event)
	default:
		d.log().WithError(err).Warn("cannot tell whether another mountward decides on this node; going on as if there were none")
	}
}

// takeOver ends standing aside where the other instance is gone, and reports
// whether it did just now.
func (d *daemon) takeOver() bool {
	a := d.standby.Load()
	if a == nil || d.lock.Take(d.settings.RuntimeDir) != nil {
		return false
	}
	// First this: a request that finds nobody to stand aside for must decide.
	d.aside.CompareAndSwap(a, nil)
	if !d.standby.CompareAndSwap(a, nil) {
		return false
	}
	d.trail.Load().Record(d.connectionEvent(audit.TookOver))
	d.followNote() // of an emergency that the other one was asked for
	return true
}

// takeOver is the daemon's for a connection: what runs is known from the
// runtime's list and the events since, and is gone through as after a
// synchronization.
func (p *plugin) takeOver() {
	if !p.daemon.takeOver() {
		return
	}
	p.background("the takeover", func() {
		if err := p.daemon.rollout.Again(); err != nil {
			p.daemon.log().WithError(err).Warn("what the other instance counted for the roll-out is lost")
		}
		p.daemon.loadPolicy() // says what is in force, and keeps a copy
		if pods, containers, ok := p.roster.take(); ok {
			p.synchronize(p.ctx, pods, containers)
		}
	})
}

// watchStandby takes over without a request.
func (p *plugin) watchStandby(ctx context.Context) {
	for p.daemon.standby.Load() != nil {
		rest(ctx, standbyPause)
		if ctx.Err() != nil {
			return
		}
		p.takeOver()
	}
}
