package show

import (
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/verify"
	"github.com/mountward/mountward/pkg/volumes"
)

func outcome(destination string, asked, decided facts.Propagation) facts.Outcome {
	return facts.Outcome{Mount: facts.Mount{Destination: destination, Type: "bind"}, Asked: asked, Decided: decided}
}

func proof(destination string, verdict verify.Verdict) verify.Proof {
	return verify.Proof{
		Destination: destination, Decided: facts.Slave, Verdict: verdict, Reason: "because",
		Seen: &facts.MountState{Master: 3}, Host: &facts.MountState{Peer: 3},
	}
}

// member is a container of which something was decided.
func member(proofs ...verify.Proof) volumes.Member {
	m := volumes.Member{
		Container: facts.Container{ID: "0123456789abcdef", Name: "app", Pod: facts.Pod{Namespace: "prod", Name: "web-0"}},
		Namespace: "k8s.io", Known: true, Identity: facts.Is(true, "proved"), Proofs: proofs,
	}
	for _, p := range proofs {
		m.Outcomes = append(m.Outcomes, outcome(p.Destination, facts.Private, facts.Slave))
	}
	return m
}

// TestVerdictOfAContainer: drift weighs more than what cannot be told, and that
// more than what is the same.
func TestVerdictOfAContainer(t *testing.T) {
	undecided := member()
	undecided.Known = false
	stranger := member()
	stranger.Identity = facts.CannotTell("a hypervisor")
	impostor := member()
	impostor.Identity = facts.Is(false, "another root")
	for name, test := range map[string]struct {
		member volumes.Member
		want   verify.Verdict
		why    bool
	}{
		"nothing was decided that claims anything": {member(), verify.Same, false},
		"all the same":                        {member(proof("/a", verify.Same), proof("/b", verify.Same)), verify.Same, false},
		"one unknown":                         {member(proof("/a", verify.Unknown), proof("/b", verify.Same)), verify.Unknown, false},
		"drift before unknown":                {member(proof("/a", verify.Drift), proof("/b", verify.Unknown)), verify.Drift, false},
		"unknown before drift":                {member(proof("/a", verify.Unknown), proof("/b", verify.Drift)), verify.Drift, false},
		"mountward did not decide":            {undecided, verify.Unknown, true},
		"not proved to be the container":      {stranger, verify.Unknown, true},
		"proved to be another than container": {impostor, verify.Unknown, true},
	} {
		got := Verified(test.member)
		if got.Verdict != test.want || (got.Why != "") != test.why {
			t.Errorf("%s: %s %q, want %s", name, got.Verdict, got.Why, test.want)
		}
	}
}

// TestAskedIsOfTheSameMount: outcomes without a proof, which claim nothing or
// are no binds, do not shift the others.
func TestAskedIsOfTheSameMount(t *testing.T) {
	m := member(proof("/b", verify.Same), proof("/d", verify.Same))
	m.Outcomes = []facts.Outcome{
		outcome("/a", facts.Unset, facts.Unset),
		outcome("/b", facts.Shared, facts.Slave),
		{Mount: facts.Mount{Destination: "/c", Type: "tmpfs"}, Asked: facts.Private, Decided: facts.Private},
		outcome("/d", facts.Private, facts.Slave),
	}
	var got []string
	for _, v := range Verified(m).Mounts {
		got = append(got, v.Destination+" "+v.Asked.Option())
	}
	if diff := cmp.Diff([]string{"/b rshared", "/d rprivate"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestVerifyOfANode: each kind of line there is.
func TestVerifyOfANode(t *testing.T) {
	undecided := member()
	undecided.Known = false
	undecided.Container.Name = "old"
	unseen := proof("/gone", verify.Unknown)
	unseen.Seen, unseen.Host = nil, nil
	nothing := member()
	nothing.Container.Name = "plain"
	v := Verification{
		Schema: VerifySchema, Node: report().Node,
		Tasks:   []VerifiedTask{Verified(member(proof("/data", verify.Same), proof("/x", verify.Drift), unseen)), Verified(undecided), Verified(nothing)},
		Unknown: []volumes.Unknown{{What: "container x", Why: "its config.json is half-written"}},
	}
	golden(t, "verify.table", text(t, func(w io.Writer) error { return VerifyTable(w, v) }))
	golden(t, "verify.json", text(t, func(w io.Writer) error { return JSON(w, v) }))
}

// TestARecordThatCannotBeReadIsNone: it is not said that nothing was decided.
func TestARecordThatCannotBeReadIsNone(t *testing.T) {
	got := Verified(volumes.Member{KnownWhy: "read a.json: damaged"})
	if got.Verdict != verify.Unknown || got.Why != "the record of what was decided about it cannot be read: read a.json: damaged" {
		t.Errorf("unreadable: %+v", got)
	}
	if got := Verified(volumes.Member{}); !strings.HasPrefix(got.Why, "mountward did not decide about it") {
		t.Errorf("none: %+v", got)
	}
}
