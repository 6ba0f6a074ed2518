package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/mountward/mountward/pkg/control"
	"github.com/mountward/mountward/pkg/policy"
)

const (
	// pulseEvery is how often the state is looked at and told, unless the
	// watchdog wants it more often.
	pulseEvery = 10 * time.Second
	// saveEvery is how often what was counted for the roll-out is written.
	saveEvery = time.Minute
	// readyGrace is how long the runtime is waited for before we say that the
	// start is over all the same. The kubelet is started after us: without a
	// runtime it can do nothing either, and the node must come up so that
	// somebody can mend it.
	readyGrace = 20 * time.Second
)

// pulse tells systemd how it goes until ctx ends: that the start is over, once
// the runtime sends us its requests; and again and again that we work, which is
// found out each time.
type pulse struct {
	daemon *daemon
	notify *control.Notifier
	every  time.Duration // 0: nobody waits for a sign of life
	grace  time.Duration // before we are ready without a runtime
	ready  atomic.Bool   // the start is over
	owed   atomic.Bool   // systemd is to be told that we are ready
	ill    bool          // the last examination was not good
	last   time.Time     // of the last beat
}

func (p *pulse) run(ctx context.Context) {
	d := p.daemon
	every := pulseEvery
	if p.every > 0 {
		every = min(every, p.every)
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	grace := time.NewTimer(p.grace)
	defer grace.Stop()
	select {
	case <-d.started:
	case <-ctx.Done():
		return
	}
	p.last = d.now()
	for late := false; ; {
		p.beat(late)
		select {
		case <-ctx.Done():
			p.beat(late) // what was watched until now counts
			return
		case <-grace.C:
			late = true
		case <-d.state.changed:
		case <-ticker.C:
		}
	}
}

// beat tells what there is to tell. late says that the start must not be waited
// for any longer.
func (p *pulse) beat(late bool) {
	d := p.daemon
	now := d.now()
	d.followNote()
	synced := d.state.connection().synced
	if synced && d.force.Load().policy.Mode == policy.ModeAudit && d.standsAside() == nil {
		d.rollout.Watch(now.Sub(p.last))
	}
	p.last = now
	err := d.examineItself()
	switch {
	case err != nil && !p.ill:
		d.log().WithError(err).Error("mountward does not work as it should; systemd restarts it, if it watches it")
	case err == nil:
		p.tell(p.notify.Alive())
	}
	p.ill = err != nil
	line := d.statusLine()
	if (synced || late) && p.ready.CompareAndSwap(false, true) {
		if !synced {
			d.log().Warn("no runtime yet: what waits for mountward to be ready waits no longer")
		}
		p.owed.Store(true)
	}
	if !p.owed.Load() {
		p.tell(p.notify.Status(line))
		return
	}
	// What waits for it waits for ever: one that did not get through is said
	// again.
	p.owed.Store(false)
	if err := p.notify.Ready(line); err != nil {
		p.owed.Store(true)
		p.tell(err)
	}
}

// reload loads the policy anew. Systemd hears of it unless it still waits for
// the end of the start, which a reload must not be taken for.
func (p *pulse) reload() {
	d := p.daemon
	if !p.ready.Load() {
		d.loadPolicy()
		return
	}
	p.tell(p.notify.Reloading())
	d.loadPolicy()
	p.owed.Store(true)
	d.state.news()
}

func (p *pulse) tell(err error) {
	if err != nil {
		p.daemon.log().WithError(err).Debug("systemd was not told")
	}
}

// examineItself goes through what every handler needs. What is stuck there
// sticks here, and the sign of life does not come.
func (d *daemon) examineItself() error {
	if n := d.working.Load(); n >= maxOverdue {
		return fmt.Errorf("%d requests hang", n)
	}
	if _, _, err := d.ledger().Get("mountward"); err != nil { // no container has this id
		d.log().WithError(err).Debug("the ledger cannot be read")
	}
	d.rollout.Tally()
	return d.trail.Load().Takes()
}

// keepCount writes what was counted for the roll-out, beside everything else: a
// disk may hang.
func (d *daemon) keepCount(ctx context.Context) {
	select {
	case <-d.started:
	case <-ctx.Done():
		return
	}
	ticker := time.NewTicker(saveEvery)
	defer ticker.Stop()
	for over := false; !over; {
		select {
		case <-ctx.Done():
			over = true
		case <-ticker.C:
		}
		if d.standby.Load() != nil {
			continue // the other instance's
		}
		if err := d.rollout.Save(); err != nil {
			d.log().WithError(err).Warn("a restart would begin the count anew")
		}
	}
}
