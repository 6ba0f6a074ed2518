package show

import (
	"fmt"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/words"
	"github.com/mountward/mountward/pkg/policy"
)

// trace prints the rules that were tried for a mount, what each answer rests on,
// and how many were not.
func (p *page) trace(indent string, steps []policy.Step, later int) {
	if p.err != nil {
		return
	}
	rows := newTable(p.w)
	for _, s := range steps {
		rows.row(indent+Word(s.Position), Word(s.Rule), stepText(s))
	}
	if p.err = rows.flush(); later > 0 {
		p.line(indent + words.Count(later, "later rule") + " not tried")
	}
}

// stepText is why a rule matched or did not: "no: propagation is "private", wants
// "shared"".
func stepText(s policy.Step) string {
	why := s.Why
	if rest, ok := strings.CutPrefix(why, "it "); ok && s.Selector != "" {
		why = s.Selector + " " + rest
	} else if s.Selector != "" {
		why = s.Selector + ": " + why
	}
	word := s.Matched.String()
	switch {
	case s.Audit && s.Matched != facts.No:
		word += ", in audit mode"
	case s.Matched == facts.Yes && s.Action == facts.ActionAudit:
		word += ", recorded"
	}
	return word + ": " + Line(why)
}

// inForce tells what a rule in audit mode would have decided.
func inForce(s facts.Shadow) string {
	text := string(s.Action)
	switch s.Action {
	case facts.ActionDeny:
		text = "DENY"
	case facts.ActionSet:
		text += " " + asked(s.Propagation)
	case facts.ActionAllow, facts.ActionAudit:
	}
	text = fmt.Sprintf("rule %q (%s), were it in force: %s", s.Rule, s.Position, text)
	if s.Reason != "" {
		text += ": " + s.Reason
	}
	return text
}
