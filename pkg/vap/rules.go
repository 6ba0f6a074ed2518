package vap

import (
	"fmt"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
)

// How says how much of a rule the exported policy has.
type How string

// The answers. One that is carried in part lets through what the node may refuse.
const (
	Carried How = "carried"
	InPart  How = "in part"
	LeftOut How = "left out"
)

// Rule is what became of one rule.
type Rule struct {
	Name     string
	Position string // FILE:LINE
	Action   facts.Action
	How      How
	Why      string // not carried as it stands; one line
}

// condition is a rule's match and except: pod is asked once, mount of every
// mount m.
type condition struct{ pod, mount expr }

// nothing reports a condition that never holds.
func (c condition) nothing() bool { return c.pod == never || c.mount == never }

// everything reports one that always holds.
func (c condition) everything() bool { return c.pod == always && c.mount == always }

// translate writes a rule so that it lets through at least what it does on the
// node, and refuses at most that.
func translate(rule *policy.Rule, vars policy.Vars) (condition, []string) {
	written := rule.Written()
	lenient := rule.Action != facts.ActionDeny
	c := condition{always, always}
	var whys []string
	add := func(r reading, e expr) {
		if r.why != "" {
			whys = append(whys, r.why)
		}
		if r.mount {
			c.mount = and(c.mount, e)
		} else {
			c.pod = and(c.pod, e)
		}
	}
	for _, r := range read(written.Match, vars, false) {
		if lenient {
			add(r, r.maybe)
		} else {
			add(r, r.surely)
		}
	}
	for _, r := range read(written.Except, vars, true) {
		if lenient {
			add(r, not(r.surely))
		} else {
			add(r, not(r.maybe))
		}
	}
	return c, whys
}

// fate tells what became of a rule.
func fate(rule *policy.Rule, c condition, whys []string) Rule {
	r := Rule{Name: rule.Name, Position: rule.Position, Action: rule.Action, How: Carried}
	why := strings.Join(whys, "; ")
	switch {
	case rule.Action == facts.ActionAudit:
		r.How, r.Why = LeftOut, "it records on the node and decides nothing"
	case len(whys) == 0:
	case rule.Action == facts.ActionDeny && c.nothing():
		r.How, r.Why = LeftOut, why+": what it refuses is refused on the node alone"
	case rule.Action == facts.ActionDeny:
		r.How, r.Why = InPart, why+": where that is not known it refuses on the node alone"
	case c.everything():
		r.How, r.Why = InPart, why+": it is taken to let every mount through, so nothing below it is refused here"
	default:
		r.How, r.Why = InPart, why+": where that is not known it is taken to let the mount through, whatever the rules below say"
	}
	return r
}

// leftAfter is the expression for the mounts that a rule leaves to those below.
func leftAfter(left string, c condition) string {
	rest := fmt.Sprintf("%s.map(c, c.filter(m, %s))", left, not(c.mount))
	if c.mount == always {
		rest = left + ".filter(c, false)"
	}
	return whereverPod(c.pod, rest, left)
}

// refusedBy is the expression for the mounts that a rule refuses, for people,
// by container.
func refusedBy(left string, c condition) string {
	some := "c"
	if c.mount != always {
		some = fmt.Sprintf("c.filter(m, %s)", c.mount)
	}
	text := `m.destination + " (" + m.propagation + ") of container " + m.container`
	return whereverPod(c.pod, fmt.Sprintf("%s.map(c, %s.map(m, %s)).filter(c, size(c) > 0)", left, some, text), "[]")
}

func whereverPod(pod expr, then, otherwise string) string {
	if pod == always {
		return then
	}
	return fmt.Sprintf("%s ? %s : %s", pod, then, otherwise)
}
