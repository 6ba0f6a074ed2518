package show

import (
	"bytes"
	"strings"
	"testing"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
	"github.com/mountward/mountward/pkg/policytest"
)

// failed is a report in which one name stands wherever a name can that is not
// the policy's or the test's own.
func failed(name string) Tests {
	outcome := facts.Outcome{Mount: facts.Mount{Destination: name, Source: name}, Action: facts.ActionAllow, Rule: "r", Position: "p:1"}
	effect := policytest.Effect{Workload: name, Breaks: "it " + name, Changes: []policytest.Change{{Source: name, Destination: name, Kind: policytest.Refused, Rule: "r", Position: "p:1", Reason: name}}}
	return Tests{
		Files: []TestFile{{
			File: name, Policy: name,
			Tests: []Test{{
				Name: "n", Position: "x:1", Failures: []TestFailure{{Mount: name, Key: "outcome", Want: name, Got: name, Hint: "h " + name}},
				Mounts: []TestMount{{Outcome: outcome, Later: 1, Trace: []policy.Step{{Rule: "r", Position: "p:1", Action: facts.ActionDeny, Matched: facts.No, Selector: name, Why: name}}}},
			}},
			Workloads: &TestWorkloads{Table: name, Broken: []policytest.Effect{effect}, Idle: []policytest.Named{{Glob: name, Position: "x:2"}}},
		}},
		Coverage: []TestCoverage{{Policy: name, Rules: []policytest.Covered{{Rule: "r", Position: "p:1"}}}},
	}
}

func TestNoNameForgesALineOfTests(t *testing.T) {
	printed := func(name string) string {
		var b bytes.Buffer
		if err := TestsText(&b, failed(name)); err != nil {
			t.Fatal(err)
		}
		effects := failed(name).Files[0].Workloads.Broken
		if err := WorkloadsTable(&b, Workloads{Policy: name, Table: name, Containers: 1, Effects: effects}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	want := strings.Count(printed("plain"), "\n")
	for _, name := range hostile() {
		text := printed(name)
		if got := strings.Count(text, "\n"); got != want || strings.ContainsAny(text, "\x1b\r\x00\u202e") {
			t.Errorf("%q: %d lines, want %d:\n%s", name, got, want, text)
		}
	}
}

func TestWhatFailedIsCounted(t *testing.T) {
	tests := Tests{Files: []TestFile{
		{Error: "no such file"},
		{Tests: []Test{{Passed: true}, {}, {Passed: true}}, Workloads: &TestWorkloads{Passed: true}},
		{Tests: []Test{{Passed: true}}, Workloads: &TestWorkloads{}},
	}}
	if tests.Count(); tests.Passed != 4 || tests.Failed != 3 {
		t.Errorf("%d passed, %d failed; want 4 and 3", tests.Passed, tests.Failed)
	}
	workloads := Workloads{Effects: []policytest.Effect{{}, {Breaks: "x"}, {Breaks: "y", Refused: true}}}
	if workloads.Count(); workloads.Changed != 1 || workloads.Broken != 2 || workloads.Refused != 1 {
		t.Errorf("%+v", workloads)
	}
}
