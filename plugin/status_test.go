package main

import (
	"errors"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/apply"
	"github.com/mountward/mountward/pkg/control"
	"github.com/mountward/mountward/pkg/facts"
)

// TestParts: each is yes only where the runtime holds it.
func TestParts(t *testing.T) {
	old := connected()
	old.nri, old.events = "v0.8.0", api.EventMask(0)
	newest := connected()
	newest.nri, newest.failRequests = "v0.12.5", true
	for name, test := range map[string]struct {
		link link
		want map[string]facts.Truth
	}{
		"containerd 2.4.2": {connected(), map[string]facts.Truth{control.PartDeadline: facts.Yes, control.PartValidator: facts.Yes, control.PartFailurePolicy: facts.No}},
		"an old runtime":   {old, map[string]facts.Truth{control.PartDeadline: facts.Yes, control.PartValidator: facts.No, control.PartFailurePolicy: facts.No}},
		"a new one":        {newest, map[string]facts.Truth{control.PartDeadline: facts.Yes, control.PartValidator: facts.Yes, control.PartFailurePolicy: facts.Yes}},
	} {
		s := newState(time.Now())
		s.configured(test.link)
		got := map[string]facts.Truth{}
		for _, p := range s.connection().parts() {
			if p.Why == "" {
				t.Errorf("%s: %s has no reason", name, p.Name)
			}
			got[p.Name] = p.Truth
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		s.disconnected(time.Now(), errors.New("gone"))
		for _, p := range s.connection().parts() {
			if p.Truth != facts.Unknown {
				t.Errorf("%s, not connected: %s is %s", name, p.Name, p.Truth)
			}
		}
	}
}

// TestCounting: what an enforced policy would have refused is counted where it
// only watches, once a container, and never of a static pod.
func TestCounting(t *testing.T) {
	denied := func(rule string) facts.Outcome {
		return facts.Outcome{Mount: facts.Mount{Destination: "/data"}, Result: facts.Refused, Would: true, Rule: rule, Position: "p:1"}
	}
	n := newNode(t, auditing, "")
	d := n.daemon()
	d.start("")
	force := d.force.Load()
	one := facts.Container{Name: "main", Pod: facts.Pod{UID: "u", Namespace: "prod", Name: "web"}}
	static := one
	static.Pod.Annotations = map[string]string{facts.AnnotationConfigSource: "file"}
	d.countDecision(one, apply.Plan{}, force)
	d.countDecision(one, apply.Plan{Outcomes: []facts.Outcome{denied("a"), denied("b")}}, force)
	d.countRefusal(one, &refusedMount{denied("a")}, false, force)
	d.countRefusal(one, errors.New("more than decided"), false, force)
	d.countRefusal(static, errors.New("x"), false, force)
	tally := d.rollout.Tally()
	got := map[string]uint64{}
	for _, r := range tally.Refusals {
		got[r.Rule] = r.Times
	}
	if diff := cmp.Diff(map[string]uint64{"a": 2, "": 1}, got); diff != "" {
		t.Errorf("by rule (-want +got):\n%s", diff)
	}
	c := d.Status().Counters
	if c.Decisions != 2 || c.Would != 3 || c.Refusals != 0 || tally.Containers != 2 {
		t.Errorf("%+v, %d containers", c, tally.Containers)
	}

	n.write(n.policy, enforcing)
	d.loadPolicy()
	force = d.force.Load()
	d.countDecision(one, apply.Plan{Refusal: errors.New("x")}, force)
	d.countRefusal(one, errors.New("x"), true, force)
	d.countRefusal(static, errors.New("x"), false, force)
	if c := d.Status().Counters; c.Refusals != 2 || c.Would != 3 || d.rollout.Tally().Containers != 0 {
		t.Errorf("enforced: %+v, %+v", c, d.rollout.Tally())
	}
}

// TestStatusTellsWhatIsWrongWithThePolicy and what stands in for it.
func TestStatusTellsWhatIsWrongWithThePolicy(t *testing.T) {
	n := newNode(t, auditing, "")
	d := n.daemon()
	d.start("")
	if s := d.Status(); s.Policy.Source != "file" || len(s.Policy.Wrong) != 0 {
		t.Errorf("%+v", s.Policy)
	}
	n.write(n.policy, "version = 1\nmode = \"bogus\"\n")
	d.loadPolicy()
	s := d.Status()
	if s.Policy.Mode != "audit" || len(s.Policy.Wrong) == 0 || s.Healthy() {
		t.Errorf("%+v", s.Policy)
	}
	n.write(n.policy, auditing)
	d.loadPolicy()
	if s := d.Status(); len(s.Policy.Wrong) != 0 {
		t.Errorf("mended: %+v", s.Policy)
	}
}
