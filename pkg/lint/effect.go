package lint

import (
	"github.com/mountward/mountward/pkg/facts"
)

// noReason reports a deny whose owner would read nothing that helps.
func (l *linter) noReason(r *rule) {
	if r.Action == facts.ActionDeny && r.Reason == "" {
		l.report(facts.LintNoReason, r, r.At, `rule %q denies without a reason: the pod's owner reads it in "kubectl describe pod"; add reason = "whom to ask, what to do instead"`, r.Name)
	}
}

// noEffect reports a rule without which all would be the same.
func (l *linter) noEffect(r *rule) {
	switch {
	case r.Action == facts.ActionSet && l.onlyAsks(r, r.Propagation):
		l.report(facts.LintNoEffect, r, r.At, `rule %q sets what is asked for already; write action = "allow", or change match.propagation`, r.Name)
	case r.Action == facts.ActionDeny && wants(r.Match, keyStatic):
		l.report(facts.LintNoEffect, r, r.At, `rule %q denies static pods, which are never refused: it only records; write action = "audit"`, r.Name)
	case r.Action == facts.ActionAllow && l.policy.Default == facts.ActionAllow && l.allowsBelow(r):
		l.report(facts.LintNoEffect, r, r.At, `rule %q allows what nothing below it denies, sets or records, and the default is to allow; for an allow-list add a deny for the rest, or write default = "deny"`, r.Name)
	}
}

func (l *linter) allowsBelow(r *rule) bool {
	return l.lastOther <= r.index
}
