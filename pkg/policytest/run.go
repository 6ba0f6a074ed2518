package policytest

import "github.com/mountward/mountward/pkg/policy"

// Result is what came of one test.
type Result struct {
	Case
	Judged
	Failures []Failure // none: it passed
}

// Failure is one thing that is not as it was expected.
type Failure struct {
	Mount int    // index
	Key   string // of expect
	Want  string
	Got   string
	Hint  string // what may be wrong with the test itself; "" for nothing
}

// Run runs one test.
func (c Case) Run(p *policy.Policy, judge Judge) Result {
	r := Result{Case: c, Judged: judge.on(c.Host, p, c.Container)}
	for i, e := range c.Expect {
		compare := comparison{policy: p, judged: &r.Judged, mount: i, told: c.Container.Mounts[i].Volume}
		compare.all(e)
		r.Failures = append(r.Failures, compare.failures...)
	}
	return r
}
