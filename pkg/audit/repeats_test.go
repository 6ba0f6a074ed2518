package audit

import (
	"fmt"
	"testing"
	"time"

	"github.com/mountward/mountward/pkg/facts"
)

func TestRepeatsLetsTheFirstThroughAndCountsTheRest(t *testing.T) {
	t.Parallel()
	r := NewRepeats(RepeatsKept, RepeatsEvery)
	key := KeyOf(Decision{Container: testContainer(), Outcomes: []facts.Outcome{refusedOutcome()}})
	steps := []struct {
		at       time.Duration
		repeated int
		record   bool
	}{
		{0, 0, true},
		{time.Second, 0, false},
		{9 * time.Minute, 0, false},
		{10 * time.Minute, 3, true},
		{10*time.Minute + time.Second, 0, false},
		{25 * time.Minute, 2, true},
		{5 * time.Minute, 1, true}, // the clock was set back
		{6 * time.Minute, 0, false},
	}
	for _, step := range steps {
		repeated, record := r.See(key, noon().Add(step.at))
		if repeated != step.repeated || record != step.record {
			t.Errorf("at %s: %d, %t; want %d, %t", step.at, repeated, record, step.repeated, step.record)
		}
	}
}

func TestRepeatsForgetsTheOneNotSeenForLongest(t *testing.T) {
	t.Parallel()
	r := NewRepeats(2, time.Hour)
	key := func(uid string) RepeatKey { return RepeatKey{PodUID: uid} }
	for i, step := range []struct {
		uid    string
		record bool
	}{{"a", true}, {"b", true}, {"a", false}, {"c", true}, {"a", false}, {"b", true}, {"c", true}} {
		if _, record := r.See(key(step.uid), noon()); record != step.record {
			t.Errorf("step %d, %s: record %t, want %t", i, step.uid, record, step.record)
		}
	}
	for i := range 1000 {
		r.See(key(fmt.Sprint(i)), noon())
	}
	if len(r.byKey) != 2 || r.order.Len() != 2 {
		t.Errorf("%d keys and %d elements are kept, want 2", len(r.byKey), r.order.Len())
	}
}

func TestKeyOfTellsDecisionsApartAndNotTriesOfOne(t *testing.T) {
	t.Parallel()
	base := func() Decision {
		return Decision{
			Container: testContainer(), Policy: testPolicy(), Refused: true,
			Outcomes: []facts.Outcome{refusedOutcome(), appliedOutcome()},
			Findings: []facts.Finding{{Code: "x", Mount: "/a", Message: "mount 42"}},
		}
	}
	want := KeyOf(base())
	same := map[string]func(*Decision){
		"another container id":   func(d *Decision) { d.Container.ID = "f" },
		"another sandbox":        func(d *Decision) { d.Container.Pod.ID = "f" },
		"a new termination log":  func(d *Decision) { d.Outcomes[1].Mount.Source = "/pods/x/containers/app/1a2b" },
		"another peer group":     func(d *Decision) { d.Outcomes[0].Mount.Host.State.Peer = 99 },
		"a reason with a number": func(d *Decision) { d.Outcomes[0].Reason = "mount 43" },
		"a finding's text":       func(d *Decision) { d.Findings[0].Message = "mount 43" },
		"the count":              func(d *Decision) { d.Repeated = 7 },
	}
	for name, change := range same {
		d := base()
		change(&d)
		if KeyOf(d) != want {
			t.Errorf("%s: another key, want the same", name)
		}
	}
	other := map[string]func(*Decision){
		"pod":         func(d *Decision) { d.Container.Pod.UID = "x" },
		"container":   func(d *Decision) { d.Container.Name = "x" },
		"policy":      func(d *Decision) { d.Policy.SHA256 = "x" },
		"refused":     func(d *Decision) { d.Refused = false },
		"result":      func(d *Decision) { d.Outcomes[0].Result = facts.Left },
		"rule":        func(d *Decision) { d.Outcomes[0].Rule = "x" },
		"destination": func(d *Decision) { d.Outcomes[0].Mount.Destination = "/x" },
		"decided":     func(d *Decision) { d.Outcomes[0].Decided = facts.Slave },
		"audit rules": func(d *Decision) { d.Outcomes[0].Audited = []string{"x"} },
		"shadow":      func(d *Decision) { d.Outcomes[0].Shadow = []facts.Shadow{{Rule: "x"}} },
		"finding":     func(d *Decision) { d.Findings[0].Code = "y" },
		"one fewer":   func(d *Decision) { d.Outcomes = d.Outcomes[:1] },
	}
	for name, change := range other {
		d := base()
		change(&d)
		if KeyOf(d) == want {
			t.Errorf("another %s: the same key, want another", name)
		}
	}
}
