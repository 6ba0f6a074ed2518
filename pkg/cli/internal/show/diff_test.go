package show

import (
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/mountward/mountward/pkg/audit"
	"github.com/mountward/mountward/pkg/facts"
)

// judgedAs is a mount with what one policy decides about it.
func judgedAs(verdict string, decided facts.Propagation, result facts.Result, doubts ...string) ExplainedMount {
	return ExplainedMount{
		Outcome: facts.Outcome{
			Mount: facts.Mount{Source: "/srv", Destination: "/data"},
			Asked: facts.Private, Decided: decided, Result: result, Rule: "r", Position: "p:1",
		},
		Verdict: verdict, Doubts: doubts,
	}
}

func TestTwoDecisionsDifferByVerdictPropagationAndResult(t *testing.T) {
	set := judgedAs(VerdictSet, facts.Slave, facts.Applied)
	otherRule := set
	otherRule.Rule, otherRule.Position, otherRule.Decision.Reason = "other", "p:9", "another"
	for name, test := range map[string]struct {
		old, changed ExplainedMount
		want         facts.Truth
	}{
		"alike":                       {set, set, facts.No},
		"alike, by another rule":      {set, otherRule, facts.No},
		"another verdict":             {judgedAs(VerdictAllow, facts.Slave, facts.Applied), set, facts.Yes},
		"another propagation":         {set, judgedAs(VerdictSet, facts.Shared, facts.Applied), facts.Yes},
		"another result":              {set, judgedAs(VerdictSet, facts.Slave, facts.Left), facts.Yes},
		"the old one cannot be told":  {judgedAs(VerdictUnknown, facts.Slave, facts.Applied, "x"), set, facts.Unknown},
		"the new one cannot be told":  {set, judgedAs(VerdictUnknown, facts.Slave, facts.Applied, "x"), facts.Unknown},
		"neither of two can be told":  {judgedAs(VerdictUnknown, facts.Slave, facts.Left, "x"), judgedAs(VerdictUnknown, facts.Slave, facts.Left, "y"), facts.Unknown},
		"a verdict that is not known": {judgedAs(VerdictDeny, facts.Private, facts.Refused), judgedAs(VerdictUnknown, facts.Slave, facts.Left), facts.Unknown},
	} {
		for _, d := range []DiffMount{DiffMountOf(test.old, test.changed), DiffMountOf(test.changed, test.old)} {
			if d.Differs != test.want {
				t.Errorf("%s: %s, want %s", name, d.Differs, test.want)
			}
		}
	}
}

// differing is a report in which one name stands wherever a name can that is not
// the policy's own.
func differing(name string) Diff {
	doubtful := judgedAs(VerdictUnknown, facts.Private, facts.Unchanged, "d "+name, "e "+name)
	doubtful.Rule, doubtful.Position = "", name
	set, left := judgedAs(VerdictSet, facts.Slave, facts.Applied), judgedAs(VerdictSet, facts.Shared, facts.Left)
	deny, allow := judgedAs(VerdictDeny, facts.Private, facts.Refused), judgedAs(VerdictAllow, facts.Private, facts.Unchanged)
	for _, m := range []*ExplainedMount{&doubtful, &set, &left, &deny, &allow} {
		m.Mount.Source, m.Mount.Destination = name+"/source", name
		m.Decision.Reason = "because " + name
	}
	d := Diff{Schema: DiffSchema, Total: 4, Old: audit.Policy{Mode: "audit"}, New: audit.Policy{Mode: "enforce"}}
	container := func(id string) audit.Container {
		return audit.Container{ID: id, Name: name, Pod: facts.Pod{Namespace: name, Name: name}}
	}
	d.Add(DiffContainer{container("c1"), []DiffMount{DiffMountOf(allow, doubtful), DiffMountOf(set, left)}})
	d.Add(DiffContainer{container("c2"), []DiffMount{DiffMountOf(doubtful, deny)}})
	d.Add(DiffContainer{container("c3"), []DiffMount{DiffMountOf(deny, allow)}})
	return d
}

func TestADifferenceIsReadable(t *testing.T) {
	d := differing("n")
	golden(t, "diff.text", text(t, func(w io.Writer) error { return DiffText(w, d) }))
	golden(t, "diff.json", text(t, func(w io.Writer) error { return JSON(w, d) }))
	d.New.Mode = d.Old.Mode
	if got := text(t, func(w io.Writer) error { return DiffText(w, d) }); strings.Contains(got, "mode") {
		t.Errorf("the modes are the same, and are told:\n%s", got)
	}
}

func TestNoNameForgesALineOfADifference(t *testing.T) {
	want := strings.Count(text(t, func(w io.Writer) error { return DiffText(w, differing("plain")) }), "\n")
	for _, name := range hostile() {
		got := text(t, func(w io.Writer) error { return DiffText(w, differing(name)) })
		if n := strings.Count(got, "\n"); n != want || strings.ContainsAny(got, "\x1b\r\x00\u202e") {
			t.Errorf("%q: %d lines, want %d:\n%s", name, n, want, got)
		}
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestADifferenceThatCannotBeWrittenIsAnError(t *testing.T) {
	if err := DiffText(full{}, differing("n")); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v", err)
	}
}
