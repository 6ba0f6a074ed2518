package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/apply"
	"github.com/mountward/mountward/pkg/control"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/settings"
)

// TestPartsNotConnected: of a connection that is not there nothing is known.
func TestPartsNotConnected(t *testing.T) {
	_, p := turnPlugin(t, enforcing, "", time.Minute)
	d := p.daemon
	told := func(want facts.Truth) {
		t.Helper()
		for _, part := range d.parts() {
			if part.Name == control.PartDeadline && part.Truth != want || want == facts.Unknown && part.Truth != want {
				t.Errorf("%s is %s, want %s", part.Name, part.Truth, want)
			}
		}
	}
	told(facts.Unknown)
	p.declared.Store(&declared{peer: peer{"containerd", "v2.4.2", "v0.12.3"}})
	d.connection.Store(p)
	d.state.configured(connected())
	told(facts.Yes)
	d.state.disconnected(time.Now(), errors.New("gone"))
	told(facts.Unknown)
}

// TestTheNamespacePartNeedsItsCapabilities: the setting alone changes nothing.
func TestTheNamespacePartNeedsItsCapabilities(t *testing.T) {
	d := newDaemon(settings.Source{}, nil)
	d.settings.Apply.Namespace = true
	if part := d.namespacePart(); part.Truth != facts.Yes {
		t.Errorf("with them: %+v", part)
	}
	d.incapable = &apply.Incapable{Missing: []string{"CAP_SYS_ADMIN"}}
	if part := d.namespacePart(); part.Truth != facts.No || !strings.Contains(part.Why, "no CAP_SYS_ADMIN") {
		t.Errorf("without: %+v", part)
	}
	d.incapable = errors.New("read /proc/self/status: denied")
	if part := d.namespacePart(); part.Truth != facts.Unknown || !strings.Contains(part.Why, "denied") {
		t.Errorf("not known: %+v", part)
	}
}

// TestCounting: what an enforced policy would have refused is counted where it
// only watches, once a container, and never of a static pod or by a rule that
// would still be in audit mode.
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
	// The mode of the policy does not put a rule in audit mode in force.
	d.countDecision(one, apply.Plan{Outcomes: []facts.Outcome{{Shadow: []facts.Shadow{{Rule: "s", Action: facts.ActionDeny}}}}}, force)
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

	// What was found running is no creation, and would be refused when it is made
	// anew.
	d.countRunning(judged{container: one, known: true, outcomes: []facts.Outcome{{}, denied("c")}}, force)
	d.countRunning(judged{container: one, known: true, outcomes: []facts.Outcome{{}}}, force)
	d.countRunning(judged{container: one, outcomes: []facts.Outcome{denied("c")}}, force)
	d.countRunning(judged{container: static, known: true, outcomes: []facts.Outcome{denied("c")}}, force)
	if tally := d.rollout.Tally(); tally.Total() != 4 || tally.Refusals[2].Rule != "c" || tally.Containers != 2 {
		t.Errorf("running: %+v", tally)
	}

	n.write(n.policy, enforcing)
	d.loadPolicy()
	force = d.force.Load()
	d.countDecision(one, apply.Plan{Refusal: errors.New("x")}, force)
	d.countRefusal(one, errors.New("x"), true, force)
	d.countRefusal(static, errors.New("x"), false, force)
	if c := d.Status().Counters; c.Refusals != 2 || c.Would != 4 || d.rollout.Tally().Containers != 0 {
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

// TestStatusIsRedWhileRecordsAreLost, and not for ever after.
func TestStatusIsRedWhileRecordsAreLost(t *testing.T) {
	for _, losing := range []bool{true, false} {
		s := control.Status{
			Connection: control.Connection{Connected: true, Synchronized: true},
			Counters:   control.Counters{Lost: 7, Losing: losing},
		}
		if s.Judge(); s.Healthy() == losing {
			t.Errorf("losing %t: problems %v", losing, s.Problems)
		}
	}
}
