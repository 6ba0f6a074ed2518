package main

import (
	"errors"
	"sync"
	"time"

	"github.com/mountward/mountward/pkg/audit"
	"github.com/mountward/mountward/pkg/control"
)

// emergencies begins and ends the emergency of a daemon, of which there is one
// at most.
type emergencies struct {
	mu    sync.Mutex // not held by handlers, which only load daemon.emergency, but by the one that takes over
	now   control.Emergency
	noted bool        // it is in the runtime directory
	timer *time.Timer // ends it; nil: none is on
}

// Emergency lets the daemon answer without change for a time, or no longer where
// that is 0. It holds also where it cannot be noted for the next start, which
// the warning says.
func (d *daemon) Emergency(length time.Duration) (warning string, err error) {
	e := &d.crisis
	e.mu.Lock()
	defer e.mu.Unlock()
	if length == 0 {
		if e.timer == nil {
			return "", errors.New("there is no emergency to end")
		}
		return "", d.endEmergency(audit.EmergencyEnded)
	}
	now := d.now()
	one := control.Emergency{Since: now, Until: now.Add(length)}
	d.beginEmergency(one, length, audit.EmergencyAsked)
	err = one.Write(d.settings.RuntimeDir)
	if e.noted = err == nil; err != nil {
		d.log().WithError(err).Error("the emergency ends when mountward is restarted")
		return "it ends when the daemon is restarted: " + err.Error(), nil
	}
	return "", nil
}

// beginEmergency is called with the lock. A later one replaces the one that is.
func (d *daemon) beginEmergency(one control.Emergency, length time.Duration, cause string) {
	e := &d.crisis
	if e.timer != nil {
		e.timer.Stop()
	}
	d.emergency.Store(&aside{why: "emergency (mountward emergency --end ends it)", until: one.Until})
	e.now = one
	var timer *time.Timer
	timer = time.AfterFunc(length, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.timer == timer { // else another one has begun
			if err := d.endEmergency(audit.EmergencyOver); err != nil {
				d.log().WithError(err).Error("the emergency is over")
			}
		}
	})
	e.timer = timer
	d.trail.Load().Record(audit.Emergency{Begins: true, Since: one.Since, Until: one.Until, Cause: cause})
	d.state.news()
}

// endEmergency is called with the lock. Whatever becomes of the note, it is over.
// A command that ends it ends every one; time ends only this one.
func (d *daemon) endEmergency(cause string) error {
	e := &d.crisis
	e.timer.Stop()
	e.timer = nil
	d.emergency.Store(nil)
	d.trail.Load().Record(audit.Emergency{Since: e.now.Since, Until: e.now.Until, Cause: cause})
	d.state.news()
	if cause == audit.EmergencyOver {
		return e.now.Remove(d.settings.RuntimeDir)
	}
	return control.RemoveEmergency(d.settings.RuntimeDir)
}

// resumeEmergency goes on with an emergency that was on before this start. A
// note that no command wrote switches nothing off.
func (d *daemon) resumeEmergency() {
	if a := d.aside.Load(); a != nil && a.idle {
		return // the other instance's
	}
	dir := d.settings.RuntimeDir
	one, noted, err := control.ReadEmergency(dir)
	switch now := d.now(); {
	case err != nil:
		d.log().WithError(err).Error("no emergency is on")
	case !noted:
		return
	case one.On(now):
		d.crisis.mu.Lock()
		defer d.crisis.mu.Unlock()
		d.beginEmergency(one, one.Until.Sub(now), audit.EmergencyKept)
		d.crisis.noted = true
		return
	default:
		d.trail.Load().Record(audit.Emergency{Since: one.Since, Until: one.Until, Cause: audit.EmergencyMissed})
	}
	if err := control.RemoveEmergency(dir); err != nil {
		d.log().WithError(err).Warn("it is found again at the next start")
	}
}

// followNote begins what a command has noted that could not reach us, for we
// hung, and ends what is noted no longer. Without a command it changes nothing.
func (d *daemon) followNote() {
	if a := d.aside.Load(); a != nil && a.idle {
		return
	}
	e := &d.crisis
	e.mu.Lock()
	defer e.mu.Unlock()
	one, noted, err := control.ReadEmergency(d.settings.RuntimeDir)
	switch now := d.now(); {
	case err != nil:
	case noted && one.On(now) && e.timer == nil:
		d.beginEmergency(one, one.Until.Sub(now), audit.EmergencyNoted)
		e.noted = true
	case !noted && e.timer != nil && e.noted:
		_ = d.endEmergency(audit.EmergencyEnded) // there is no note to remove
	}
}
