package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/containerd/nri/pkg/stub"

	"github.com/mountward/mountward/pkg/apply"
	"github.com/mountward/mountward/pkg/audit"
	"github.com/mountward/mountward/pkg/control"
	"github.com/mountward/mountward/pkg/facts"
)

// What the status has of texts that can be of any size: how many mistakes of a
// policy, and how many bytes of one text.
const (
	maxWrong = 50
	maxText  = 1000
)

func bounded(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "") + "..."
}

// Status returns what the daemon tells of itself. It waits for nothing.
func (d *daemon) Status() control.Status {
	l := d.state.connection()
	tally := d.rollout.Tally()
	s := control.Status{
		Schema: control.StatusSchema, Time: d.now(), Version: version(), PID: os.Getpid(),
		Started: d.state.began, Launched: launched(),
		Connection: l.status(), Policy: d.policyStatus(), FailClosed: append(d.parts(), d.namespacePart()),
		Counters: d.counters(), Journal: d.trail.Load().Destinations(), Rollout: &tally,
	}
	if a := d.standsAside(); a != nil {
		s.Aside = &control.Aside{Reason: a.why}
		if !a.until.IsZero() {
			s.Aside.Until = &a.until
		}
	}
	if at, ok := d.state.lastDecision(); ok {
		s.Last = &at
	}
	s.Judge()
	return s
}

func (l link) status() control.Connection {
	c := control.Connection{
		Connected: l.connected, Synchronized: l.synced, Since: l.since, Why: bounded(l.why),
		Runtime: l.runtime, Version: l.version, NRI: l.nri, PID: l.pid,
	}
	if l.connected {
		c.RequestTimeout = l.timeout.Milliseconds()
		c.Deadline = l.deadline().Milliseconds()
	}
	return c
}

// deadline returns by when we answer.
func (l link) deadline() time.Duration {
	limit := l.timeout
	if limit <= 0 {
		limit = stub.DefaultRequestTimeout
	}
	return share(deadlineShare, limit)
}

// namespacePart says whether what the specification cannot carry is made true in
// the container's mount namespace.
func (d *daemon) namespacePart() control.Part {
	part := control.Part{Name: control.PartNamespace}
	if !d.settings.Apply.Namespace {
		part.Answer = facts.Is(false, "[apply] namespace is off: on_unmet decides about mounts that the specification cannot change")
	} else if known := (*apply.Incapable)(nil); errors.As(d.incapable, &known) {
		part.Answer = facts.Is(false, "[apply] namespace is on, but: "+known.Error())
	} else if d.incapable != nil {
		part.Answer = facts.CannotTell("[apply] namespace is on, and what this process may do cannot be read: " + d.incapable.Error())
	} else {
		part.Answer = facts.Is(true, "[apply] namespace is on: mounts that the specification cannot change are changed at the start")
	}
	return part
}

func (d *daemon) policyStatus() control.Policy {
	f := d.force.Load()
	p := control.Policy{
		Name: f.policy.Name, SHA256: f.policy.SHA256, Source: f.source(), Mode: string(f.policy.Mode),
		Default: string(f.policy.Default), Rules: len(f.policy.Rules), Files: 1 + len(f.policy.DropIns), Configured: d.settings.Policy,
	}
	if err := d.state.mistakes(); err != nil {
		all := audit.PolicyErrors(err)
		for _, e := range all[:min(len(all), maxWrong)] {
			p.Wrong = append(p.Wrong, bounded(e.String()))
		}
	}
	return p
}

func (d *daemon) counters() control.Counters {
	s := d.state
	records := d.trail.Load().Counts()
	return control.Counters{
		Decisions: s.decisions.Load(), Refusals: s.refusals.Load(), Would: s.would.Load(), Missed: s.missed.Load(),
		Late: s.late.Load(), Panics: s.panics.Load(), Sent: records.Sent, Lost: records.Lost, Spooled: records.Waiting, Losing: records.Losing,
	}
}

// statusLine is the state in one line, as "systemctl status" shows it.
func (d *daemon) statusLine() string {
	l, f := d.state.connection(), d.force.Load()
	var parts []string
	if a := d.standsAside(); a != nil {
		parts = append(parts, "STANDS ASIDE: "+a.why)
	}
	policy := fmt.Sprintf("mode %s, rules: %d, policy %.12s", f.policy.Mode, len(f.policy.Rules), f.policy.SHA256)
	if d.state.mistakes() != nil {
		policy += " in place of one that is wrong"
	}
	parts = append(parts, policy)
	if l.synced {
		parts = append(parts, l.runtime+" "+strings.TrimPrefix(l.version, "v"))
	} else {
		parts = append(parts, fmt.Sprintf("NOT CONNECTED (%.80s)", l.why))
	}
	if at, ok := d.state.lastDecision(); ok {
		parts = append(parts, fmt.Sprintf("last decision %s ago", d.now().Sub(at).Truncate(time.Second)))
	} else {
		parts = append(parts, "no decision yet")
	}
	return strings.Join(parts, ", ")
}
