package vap

import (
	"errors"
	"fmt"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
)

// Options say how a policy is exported.
type Options struct {
	Name string // of both objects
	Vars policy.Vars
}

// Exported is a policy for the API server.
type Exported struct {
	From    string // the policy's file
	Policy  Policy
	Binding Binding
	Rules   []Rule   // what became of each, in their order
	Notes   []string // what else is judged on the node alone
}

// ErrNothing tells that the API server could refuse nothing by the policy.
var ErrNothing = errors.New("no rule refuses anything that a manifest shows")

// Export writes what the API server can judge of a policy. It returns what
// became of the rules also with ErrNothing.
func Export(p *policy.Policy, o Options) (*Exported, error) {
	e := &Exported{From: p.Name, Notes: notes(p)}
	w := writer{policy: p, left: "variables.mounts"}
	open := true // whether a mount can come to the rule
	for i := range p.Rules {
		rule := &p.Rules[i]
		c, whys := translate(rule, o.Vars)
		became := fate(rule, c, whys)
		switch {
		case rule.Audit:
			became.How, became.Why = LeftOut, "it is in audit mode and decides nothing"
		case became.How == LeftOut:
		case !open:
			became.How, became.Why = LeftOut, "a rule above it is taken to let every mount through"
		case rule.Action == facts.ActionDeny:
			w.refuse(c, fmt.Sprintf("rule %s (%s)", rule.Name, rule.Position), first(rule.Reason, noReason))
		default:
			w.let(c)
		}
		if became.How != LeftOut && c.everything() {
			open = false
		}
		e.Rules = append(e.Rules, became)
	}
	if open && p.Default == facts.ActionDeny {
		w.refuse(condition{always, always}, "the policy's default", noReason)
	}
	if len(w.validations) == 0 {
		return e, ErrNothing
	}
	e.Policy, e.Binding = w.objects(o)
	return e, e.check()
}

// noReason is what the node says, see package apply.
const noReason = "not allowed here; ask the node's administrator for a rule, or change the mount"

// notes tell what the node judges beside rules.
func notes(p *policy.Policy) []string {
	for _, rule := range p.Hazards {
		if rule.Action == facts.HazardDeny {
			return []string{"left out: [hazards]: what it denies is refused on the node alone"}
		}
	}
	return nil
}

// writer collects the variables and validations of the rules. left is the
// expression for the mounts that the rules so far have not decided.
type writer struct {
	policy      *policy.Policy
	left        string
	n           int
	variables   []Variable
	validations []Validation
}

func (w *writer) variable(kind, expression string) string {
	name := fmt.Sprintf("%s%d", kind, w.n)
	w.variables = append(w.variables, Variable{name, expression})
	return "variables." + name
}

// let takes what a rule lets through from the mounts that are left.
func (w *writer) let(c condition) {
	if c.nothing() {
		return
	}
	w.n++
	w.left = w.variable("left", leftAfter(w.left, c))
}

// refuse refuses what a rule denies of the mounts that are left.
func (w *writer) refuse(c condition, by, reason string) {
	if c.nothing() {
		return
	}
	w.n++
	refused := w.variable("refused", refusedBy(w.left, c))
	does := "mountward refuses mount "
	if w.policy.Mode == policy.ModeAudit {
		does = "mountward would refuse mount "
	}
	text := fmt.Sprintf(" by %s: %s", by, reason)
	w.validations = append(w.validations, Validation{
		Expression: "size(" + refused + ") == 0",
		Message:    "mountward refuses a mount" + text,
		MessageExpression: quote(does) + " + " + refused + `.map(c, c.join(", ")).join(", ") + ` +
			quote(text),
		Reason: "Forbidden",
	})
	w.left = w.variable("left", leftAfter(w.left, c))
}
