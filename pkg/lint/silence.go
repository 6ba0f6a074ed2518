package lint

import (
	"slices"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
)

// silence returns the findings that are left, and one more for each lint_ignore
// without a use: it would hide the next mistake.
func (l *linter) silence() []Finding {
	used := map[string]bool{}
	l.found = slices.DeleteFunc(l.found, func(f found) bool {
		for _, i := range l.ignoredBy(f.rule) {
			if i.Code == f.Code {
				used[i.At.String()] = true
				return true
			}
		}
		return false
	})
	l.unused(nil, l.policy.LintIgnore(), used)
	for i := range l.rules {
		if r := &l.rules[i]; !r.dead { // of a dead one not all is looked at
			l.unused(r, r.Ignore, used)
		}
	}
	findings := make([]Finding, 0, len(l.found))
	for _, f := range l.found {
		findings = append(findings, f.Finding)
	}
	return findings
}

func (l *linter) ignoredBy(r *rule) []policy.Ignored {
	if r == nil {
		return l.policy.LintIgnore()
	}
	return slices.Concat(r.Ignore, l.policy.LintIgnore())
}

func (l *linter) unused(r *rule, ignored []policy.Ignored, used map[string]bool) {
	for _, i := range ignored {
		depends := i.Code == facts.LintNoSuchFact && l.options.NRI == "" || i.Code == facts.LintSkipped || i.Code == facts.LintNotCompared // on what is not known here
		if !used[i.At.String()] && !depends && i.Code != facts.LintIgnoreUnused {
			l.report(facts.LintIgnoreUnused, r, i.At, "lint_ignore = [%q] silences nothing here: leave it out, so that it hides no later mistake", i.Code)
		}
	}
}
