package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/ledger"
)

const refusing = `version = 1
mode = "audit"
default = "allow"

[[rule]]
name = "team"
match.pod_annotations = { team = "a" }
action = "deny"

[[rule]]
name = "shared"
match.propagation = ["shared"]
action = "deny"
`

// TestWhatRunsIsJudgedByANewPolicy as it was asked for, with what no entry keeps of
// its pod; what has ended, or never ran, is not.
func TestWhatRunsIsJudgedByANewPolicy(t *testing.T) {
	n := newNode(t, "version = 1\nmode = \"audit\"\ndefault = \"allow\"\n", "")
	d := n.daemon()
	d.start("")
	view, err := hostview.Open(hostview.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	p := &plugin{daemon: d, ctx: t.Context(), host: newHost(view, d), reloaded: make(chan struct{}, 1)}
	d.connection.Store(p)
	for _, c := range []struct {
		name        string
		asked       string
		annotations map[string]string
		life        func(*life)
	}{
		{"shared", "rshared", nil, func(l *life) { l.rootfs = "/r" }},
		{"private", "rprivate", nil, func(l *life) { l.rootfs = "/r" }},
		{"of-team", "rprivate", map[string]string{"team": "a"}, func(l *life) { l.rootfs = "/r" }},
		{"static", "rshared", map[string]string{facts.AnnotationConfigSource: "file"}, func(l *life) { l.rootfs = "/r" }},
		{"ended", "rshared", nil, func(l *life) { l.rootfs, l.ended = "/r", true }},
		{"created", "rshared", nil, func(*life) {}},
		{"not-proved", "rshared", nil, nil},
	} {
		container := facts.Container{ID: c.name, Name: c.name, Pod: facts.Pod{UID: c.name, Annotations: c.annotations}}
		// Enforced before, it was lowered: what it asked for counts.
		outcome := facts.Outcome{Mount: factsBind("/data", t.TempDir(), c.asked), Decided: facts.Slave, Result: facts.Applied}
		if err := d.ledger().Put(ledger.Entry{Container: container, Outcomes: []facts.Outcome{outcome}}); err != nil {
			t.Fatal(err)
		}
		if c.life != nil {
			d.lives.change(container, c.life)
		}
	}
	refused := func() map[string]uint64 {
		got := map[string]uint64{}
		for _, r := range d.rollout.Tally().Refusals {
			got[r.Rule+" "+r.Example.Container] = r.Containers
		}
		return got
	}
	d.loadPolicy()
	if len(p.reloaded) > 0 {
		t.Error("the same policy is taken for another one")
	}
	n.write(n.policy, refusing)
	d.loadPolicy()
	if len(p.reloaded) != 1 {
		t.Fatal("another policy, and nobody is told")
	}
	p.judgeRunning(t.Context(), d.force.Load())
	want := map[string]uint64{"shared shared": 1, "team of-team": 1}
	if diff := cmp.Diff(want, refused()); diff != "" {
		t.Errorf("what would be refused (-want +got):\n%s", diff)
	}
	if c := d.rollout.Tally().Containers; c != 0 {
		t.Errorf("%d containers created", c)
	}
	// Another one is in force by now: what the old one would do is of no interest.
	old := d.force.Load()
	n.write(n.policy, refusing+"# another\n")
	d.loadPolicy()
	p.judgeRunning(t.Context(), old)
	if got := refused(); len(got) != 0 {
		t.Errorf("counted for a policy that is not in force: %v", got)
	}
}
