package show

import (
	"fmt"
	"io"
	"strings"

	"github.com/mountward/mountward/pkg/internal/words"
	"github.com/mountward/mountward/pkg/policytest"
)

// TestsText prints a line a file, above it what failed in it, and what the tests
// reached of the policies.
func TestsText(w io.Writer, t Tests) error {
	p := &page{w: w}
	policies := map[string]int{}
	for _, f := range t.Files {
		policies[f.File]++
	}
	for _, f := range t.Files {
		name := Word(f.File)
		if policies[f.File] > 1 {
			name += " on " + Word(f.Policy)
		}
		p.testFile(f, name)
	}
	for _, c := range t.Coverage {
		p.coverage(c)
	}
	return p.err
}

func (p *page) testFile(f TestFile, name string) {
	if f.Error != "" {
		for line := range strings.SplitSeq(f.Error, "\n") {
			p.line(Line(line))
		}
		p.line(fmt.Sprintf("FAIL  %s  could not be run", name))
		return
	}
	for _, t := range f.Tests {
		if !t.Passed {
			p.test(t)
		}
	}
	if f.Workloads != nil && !f.Workloads.Passed {
		p.testWorkloads(*f.Workloads)
	}
	ran, failed := f.count()
	if failed > 0 {
		p.line(fmt.Sprintf("FAIL  %s  %d of %s failed", name, failed, words.Count(ran, "test")))
		return
	}
	p.line(fmt.Sprintf("ok    %s  %s", name, words.Count(ran, "test")))
}

func (p *page) test(t Test) {
	p.line(fmt.Sprintf("FAIL  %s  %s", Word(t.Position), Line(t.Name)))
	for _, m := range t.Mounts {
		p.line(fmt.Sprintf("  mount %s (%s)", Word(m.Mount.Destination), option(m.Asked)))
		for _, f := range t.Failures {
			if f.index == m.index {
				p.failure(f)
			}
		}
		p.line(Line(fmt.Sprintf("    decided: %s by %s (%s)", m.Action, byRule(m.Rule), m.Position)))
		p.trace("      ", m.Trace, m.Later)
	}
}

func (p *page) failure(f TestFailure) {
	p.line(fmt.Sprintf("    %s: want %s, got %s", f.Key, quoted(f.Want), quoted(f.Got)))
	if f.Hint != "" {
		p.line("      hint: " + Line(f.Hint))
	}
}

// quoted is a value of expect as a test file has it; lists are so already.
func quoted(value string) string {
	if !strings.HasPrefix(value, "[") {
		value = `"` + value + `"`
	}
	return Line(value)
}

func (p *page) testWorkloads(w TestWorkloads) {
	if w.Error != "" {
		p.line(fmt.Sprintf("FAIL  workloads of %s", Word(w.Table)))
		p.line("  " + Line(w.Error))
		return
	}
	p.line(fmt.Sprintf("FAIL  workloads of %s (%s)", Word(w.Table), words.Count(w.Containers, "container")))
	for _, e := range w.Broken {
		p.line(fmt.Sprintf("  breaks and is not named: %s", Line(e.Workload)))
		p.line(fmt.Sprintf("    %s: %s", Line(e.Breaks), Line(culprits(e))))
	}
	for _, n := range w.Idle {
		p.line(fmt.Sprintf("  %s: named and does not break: %s", Word(n.Position), Line(n.Glob)))
	}
}

// culprits names the rules that break a workload.
func culprits(e policytest.Effect) string {
	var all []string
	for _, c := range e.Changes {
		if c.Kind == policytest.Refused || c.Kind == policytest.Lowered {
			all = append(all, fmt.Sprintf("%s %s by %s (%s)", c.Source, c.Kind, byRule(c.Rule), c.Position))
		}
	}
	return strings.Join(all, ", ")
}

func byRule(name string) string {
	if name == "" {
		return "the policy's default"
	}
	return fmt.Sprintf("rule %q", name)
}

func (p *page) coverage(c TestCoverage) {
	missed := 0
	for _, r := range c.Rules {
		if r.Reached == 0 {
			missed++
		}
	}
	line := fmt.Sprintf("coverage: %s  %.1f%% (%d of %s)", Word(c.Policy), c.Percent, len(c.Rules)-missed, words.Count(len(c.Rules), "rule"))
	if !c.Enough {
		line += ", too little"
	}
	p.line(line)
	for _, r := range c.Rules {
		if r.Reached == 0 {
			p.line(fmt.Sprintf("  %s  %s  not reached, tried for %s", Word(r.Position), Line(r.Rule), words.Count(r.Tried, "mount")))
		}
	}
}
