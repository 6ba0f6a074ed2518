package audit

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/words"
)

// headline is the message of a decision: the gravest outcome in full, and how
// many others there are.
func (d Decision) headline() (string, priority) {
	grave, others := gravest(d.Outcomes)
	text, priority, findings := "no change to "+d.Container.String(), prioInfo, len(d.Findings)
	switch {
	case d.Refused && (grave == nil || grave.Result != facts.Refused):
		text, priority = fmt.Sprintf("refused %s: %s", d.Container, d.Owner), prioWarning
		if grave != nil {
			others++
		}
	case grave != nil:
		text, priority = d.sentence(*grave)
	case findings > 0:
		text, priority = fmt.Sprintf("found in %s: %s", d.Container, d.Findings[0].Message), prioNotice
		findings--
	}
	if others > 0 {
		text += fmt.Sprintf("; %s: see MOUNTWARD_MOUNT", words.Count(others, "more mount"))
	}
	if findings > 0 {
		text += fmt.Sprintf("; %s: see MOUNTWARD_FINDING", words.Count(findings, "finding"))
	}
	if d.Repeated > 0 {
		text += fmt.Sprintf(" (repeated %s)", words.Count(d.Repeated, "time"))
	}
	return text, priority
}

// gravest returns the outcome that a reader must see first, nil where nothing
// happened to any mount, and how many others something happened to.
func gravest(outcomes []facts.Outcome) (worst *facts.Outcome, others int) {
	for i, o := range outcomes {
		if gravity(o) == 0 {
			continue
		}
		if worst == nil {
			worst = &outcomes[i]
			continue
		}
		others++
		if gravity(o) > gravity(*worst) {
			worst = &outcomes[i]
		}
	}
	return worst, others
}

func gravity(o facts.Outcome) int {
	switch {
	case o.Result == facts.Refused:
		return 5
	case o.Result == facts.Left:
		return 4
	case o.Result == facts.Applied:
		return 3
	case o.Result == facts.Deferred:
		return 2
	case len(o.Noted()) > 0:
		return 1
	default:
		return 0
	}
}

// sentence says what became of one mount. A mount whose result is Refused in a
// container that was not (audit mode, a static pod) would have been.
func (d Decision) sentence(o facts.Outcome) (string, priority) {
	mount := word(o.Mount.Destination)
	would := ""
	if o.Would {
		would = "would "
	}
	switch o.Result {
	case facts.Refused:
		verb, priority := "refused", prioWarning
		if o.Would || !d.Refused {
			verb, priority = "would refuse", prioNotice
		}
		text := fmt.Sprintf("%s %s: mount %s asked %s: %s", verb, d.Container, mount, request(o.Asked), rule(o, " "))
		return withReason(text, o), priority
	case facts.Left:
		verb, priority := "left", prioWarning
		if o.Would {
			verb, priority = "would leave", prioNotice
		}
		text := fmt.Sprintf("%s %s %s in %s", verb, mount, option(o.Asked), d.Container)
		if o.Wanted != facts.Unset {
			text += fmt.Sprintf(", not %s as decided", option(o.Wanted))
		}
		return withReason(fmt.Sprintf("%s (%s)", text, rule(o, ", ")), o), priority
	case facts.Applied:
		return fmt.Sprintf("%sset %s %s in %s (%s)", would, mount, change(o), d.Container, rule(o, ", ")), prioNotice
	case facts.Deferred:
		text := fmt.Sprintf("%sset %s %s at start in the mount namespace of %s (%s)", would, mount, change(o), d.Container, rule(o, ", "))
		return withReason(text, o), prioNotice
	default:
		return fmt.Sprintf("noted mount %s %s in %s (%s)", mount, request(o.Asked), d.Container, notes(o)), prioNotice
	}
}

func withReason(text string, o facts.Outcome) string {
	if o.Reason == "" {
		return text
	}
	return text + ": " + o.Reason
}

// rule names what decided and where it stands.
func rule(o facts.Outcome, separator string) string {
	name := "the policy's default"
	if o.Rule != "" {
		name = "rule " + strconv.Quote(o.Rule)
	}
	if o.Position == "" {
		return name
	}
	return name + separator + word(o.Position)
}

// notes names the rules that matched and decided nothing.
func notes(o facts.Outcome) string {
	var all []string
	if len(o.Audited) > 0 {
		all = append(all, "audit rule "+quoteAll(o.Audited))
	}
	for _, s := range o.Shadow {
		all = append(all, shadow(s))
	}
	return strings.Join(all, "; ")
}

// shadow says what a rule in audit mode would have done.
func shadow(s facts.Shadow) string {
	would := string(s.Action)
	switch s.Action {
	case facts.ActionDeny:
		would = "refuse"
	case facts.ActionSet:
		would += " " + option(s.Propagation)
	case facts.ActionAllow, facts.ActionAudit:
	}
	return fmt.Sprintf("rule %q in audit mode would %s", s.Rule, would)
}

func quoteAll(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = strconv.Quote(name)
	}
	return strings.Join(quoted, ", ")
}
