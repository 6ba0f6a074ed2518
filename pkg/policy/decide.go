package policy

import (
	"fmt"

	"github.com/mountward/mountward/pkg/facts"
)

// Decide returns a decision for every mount of the container, in their order.
// With trace, each lists the rules that were tried.
//
// The policy's mode has no part in it: what is done with a decision is the
// caller's, and so is that static pods are never refused. Rules about logical
// volumes, which only audit, are passed over for mounts without Storage.
func (p *Policy) Decide(c facts.Container, env Env, trace bool) []Decision {
	s := &subject{binding: p.bind(env), container: &c, static: c.Pod.Static(), trace: trace}
	defer p.release(s.binding)
	decisions := make([]Decision, len(c.Mounts))
	queries := make([]query, len(c.Mounts))
	open := make([]*query, 0, len(c.Mounts)) // what no rule has decided yet
	for i := range c.Mounts {
		decisions[i] = Decision{Action: facts.ActionAllow}
		if c.Mounts[i].Bind() {
			decisions[i] = Decision{Judged: true, Action: p.Default, Position: p.position}
			queries[i] = query{subject: s, decision: &decisions[i]}
			queries[i].ask(&c.Mounts[i])
			open = append(open, &queries[i])
		}
	}
	// Rule by rule, so that what it says about the container is asked once, and
	// most rules are done with at that.
	for i := 0; i < len(p.Rules) && len(open) > 0; i++ {
		open = p.Rules[i].decide(open, trace)
	}
	return decisions
}

// decide asks the rule about mounts, and returns those that it does not decide.
func (r *Rule) decide(open []*query, trace bool) []*query {
	var m memo
	strict := r.lenient()
	if !trace && r.match.ofContainer(open[0], strict, facts.No, &m.match).truth == facts.No {
		return open
	}
	left := open[:0]
	for _, q := range open {
		switch {
		case r.stored && q.mount.Storage == nil:
			if trace {
				q.decision.Trace = append(q.decision.Trace, r.untried())
			}
			left = append(left, q)
		case !trace && (r.kinds&(1<<q.asked) == 0 || r.match.ask(q, strict, facts.No, &m.match).truth == facts.No):
			left = append(left, q) // nearly always, and nothing is to be said of it
		case !r.decides(q, &m):
			left = append(left, q)
		}
	}
	return left
}

// untried is the step of a rule whose time has not come.
func (r *Rule) untried() Step {
	return Step{r.Name, r.Position, r.Action, facts.Unknown, keyLVM, "it is tried when the container runs and its storage was looked up", r.Audit}
}

// decides writes down what the rule is to the mount, and reports whether it
// decides about it.
func (r *Rule) decides(q *query, m *memo) bool {
	v := r.try(q, m)
	d, applies, doubt := q.decision, r.applies(v, q), ""
	if q.trace {
		d.Trace = append(d.Trace, Step{r.Name, r.Position, r.Action, v.matched, v.key(), v.why(q), r.Audit})
	}
	if v.matched == facts.Unknown {
		doubt = r.doubt(v, q)
	}
	switch {
	case r.Audit && applies:
		d.Shadow = append(d.Shadow, r.shadow())
	case r.Action == facts.ActionAudit && applies:
		d.Audited = append(d.Audited, Audited{r.Name, r.Position, r.Reason, r.stored, doubt})
	}
	if r.Audit || r.Action == facts.ActionAudit {
		return false // nor is what it could not tell of any weight
	}
	if doubt != "" {
		d.Unknown = append(d.Unknown, doubt)
	}
	if doubt != "" && d.Unjudged == "" && r.unjudged(q) {
		d.Unjudged = doubt
	}
	if !applies {
		return false
	}
	d.Action, d.Propagation, d.OnUnmet = r.Action, r.Propagation, r.OnUnmet
	d.Rule, d.Position, d.Reason = r.Name, r.Position, r.Reason
	d.BySource = r.match.names(keySource)
	return true
}

func (r *Rule) shadow() facts.Shadow {
	return facts.Shadow{Rule: r.Name, Position: r.Position, Reason: r.Reason, Action: r.Action, Propagation: r.Propagation}
}

// doubt tells what was not known and how the rule was read because of it.
func (r *Rule) doubt(v verdict, q *query) string {
	read := "taken as matched"
	switch {
	case r.unjudged(q):
		read = "taken as not matched, since nothing is refused or changed for what cannot be told of the host"
	case r.lenient():
		read = "taken as not matched"
	}
	return fmt.Sprintf("%s of rule %q: %s; %s", v.key(), r.Name, v.why(q), read)
}
