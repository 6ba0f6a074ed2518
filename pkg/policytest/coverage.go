package policytest

import (
	"slices"

	"github.com/mountward/mountward/pkg/policy"
)

// Covered is one rule and what the tests had to do with it. Only mounts count
// of which something is expected: what no test looks at is not tested.
type Covered struct {
	Rule     string `json:"rule"`
	Position string `json:"position"` // FILE:LINE
	Tried    int    `json:"tried"`    // for how many mounts
	Reached  int    `json:"reached"`  // for how many it decided, or was recorded (action or mode "audit")
}

// Coverage counts which rules of a policy the tests reach. Start with
// NewCoverage.
type Coverage struct {
	Rules []Covered // in the policy's order
}

// NewCoverage returns the rules of a policy, of which none was reached.
func NewCoverage(p *policy.Policy) *Coverage {
	c := &Coverage{Rules: make([]Covered, len(p.Rules))}
	for i := range p.Rules {
		c.Rules[i] = Covered{Rule: p.Rules[i].Name, Position: p.Rules[i].Position}
	}
	return c
}

// Add counts a test of the policy.
func (c *Coverage) Add(r Result) {
	for i, d := range r.Decisions {
		if !r.Expect[i].Any() {
			continue
		}
		// The trace has the rules in their order, from the first.
		for j, step := range d.Trace {
			c.Rules[j].Tried++
			if step.Rule == d.Rule || slices.Contains(r.Outcomes[i].Noted(), step.Rule) {
				c.Rules[j].Reached++
			}
		}
	}
}

// Percent is how many of a hundred rules were reached; 100 of a policy without
// rules.
func (c *Coverage) Percent() float64 {
	if len(c.Rules) == 0 {
		return 100
	}
	return 100 * float64(len(c.Rules)-len(c.Missed())) / float64(len(c.Rules))
}

// Missed returns the rules that no test reached.
func (c *Coverage) Missed() []Covered {
	return slices.DeleteFunc(slices.Clone(c.Rules), func(r Covered) bool { return r.Reached > 0 })
}
