package show

import (
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
	"github.com/mountward/mountward/pkg/policytest"
)

// TestsSchema names the JSON of Tests.
const TestsSchema = "mountward.test/v1"

// Tests is what came of the tests of policies.
type Tests struct {
	Schema   string         `json:"schema"`
	Passed   int            `json:"passed"`
	Failed   int            `json:"failed"` // tests, and files that could not be run
	Files    []TestFile     `json:"files"`
	Coverage []TestCoverage `json:"coverage,omitempty"` // one a policy, where asked for
}

// Count counts what passed and what failed.
func (t *Tests) Count() {
	for _, f := range t.Files {
		ran, failed := f.count()
		if t.Passed += ran - failed; f.Error != "" {
			failed = 1
		}
		t.Failed += failed
	}
}

// TestFile is one file with tests, run on one policy.
type TestFile struct {
	File      string         `json:"file"`
	Policy    string         `json:"policy,omitempty"` // its main file, and +FILE for each of drop_ins
	SHA256    string         `json:"policy_sha256,omitempty"`
	Error     string         `json:"error,omitempty"` // why none of its tests could be run, a mistake a line
	Tests     []Test         `json:"tests"`
	Workloads *TestWorkloads `json:"workloads,omitempty"`
}

// count returns how many tests were run, and how many of them failed. The table
// of workloads is one.
func (f TestFile) count() (ran, failed int) {
	ran = len(f.Tests)
	for _, t := range f.Tests {
		if !t.Passed {
			failed++
		}
	}
	if f.Workloads != nil {
		if ran++; !f.Workloads.Passed {
			failed++
		}
	}
	return ran, failed
}

// Test is one test.
type Test struct {
	Name     string        `json:"name"`
	Position string        `json:"position"` // FILE:LINE
	Passed   bool          `json:"passed"`
	Failures []TestFailure `json:"failures,omitempty"`
	Mounts   []TestMount   `json:"mounts,omitempty"` // of a test that failed: those that are not as expected
}

// TestFailure is one thing that is not as expected.
type TestFailure struct {
	Mount string `json:"mount"` // its destination
	Key   string `json:"key"`   // of expect
	Want  string `json:"want"`
	Got   string `json:"got"`
	Hint  string `json:"hint,omitempty"`

	index int
}

// TestMount is a mount with what was decided about it, and every rule that was
// tried.
type TestMount struct {
	facts.Outcome
	Later int           `json:"rules_not_tried"`
	Trace []policy.Step `json:"trace"`

	index int
}

// TestOf returns what is printed of a test.
func TestOf(p *policy.Policy, r policytest.Result) Test {
	t := Test{Name: r.Name, Position: r.Position, Passed: len(r.Failures) == 0}
	for _, f := range r.Failures {
		o := r.Outcomes[f.Mount]
		if n := len(t.Mounts); n == 0 || t.Mounts[n-1].index != f.Mount {
			trace := r.Decisions[f.Mount].Trace
			t.Mounts = append(t.Mounts, TestMount{Outcome: o, Trace: trace, Later: len(p.Rules) - len(trace), index: f.Mount})
		}
		t.Failures = append(t.Failures, TestFailure{o.Mount.Destination, f.Key, f.Want, f.Got, f.Hint, f.Mount})
	}
	return t
}

// TestWorkloads is what came of the table of workloads that a file names.
type TestWorkloads struct {
	Table      string              `json:"table"`
	Containers int                 `json:"containers"`
	Passed     bool                `json:"passed"`
	Error      string              `json:"error,omitempty"`  // why the table could not be read
	Broken     []policytest.Effect `json:"broken,omitempty"` // that the file does not name
	Idle       []policytest.Named  `json:"idle,omitempty"`   // names in the file of nothing that breaks
}

// TestCoverage is how much of one policy the tests reached.
type TestCoverage struct {
	Policy  string               `json:"policy"` // as of the files
	Percent float64              `json:"percent"`
	Enough  bool                 `json:"enough"` // not below --min-coverage
	Rules   []policytest.Covered `json:"rules"`
}
