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
	q := &query{
		binding:   binding{env: env, globs: make([]boundGlob, p.globs)},
		container: &c,
		static:    c.Pod.Static(),
	}
	memos := make([]memo, len(p.Rules))
	decisions := make([]Decision, len(c.Mounts))
	for i := range c.Mounts {
		if !c.Mounts[i].Bind() {
			decisions[i] = Decision{Action: facts.ActionAllow}
			continue
		}
		q.ask(&c.Mounts[i])
		decisions[i] = p.decide(q, memos, trace)
	}
	return decisions
}

func (p *Policy) decide(q *query, memos []memo, trace bool) Decision {
	d := Decision{Judged: true}
	for i := range p.Rules {
		rule := &p.Rules[i]
		if rule.stored && q.mount.Storage == nil {
			if trace {
				d.Trace = append(d.Trace, Step{rule.Name, rule.Position, rule.Action, facts.Unknown, keyLVM, "it is tried when the container runs and its storage was looked up"})
			}
			continue
		}
		v := rule.try(q, &memos[i])
		if trace {
			d.Trace = append(d.Trace, Step{rule.Name, rule.Position, rule.Action, v.matched, v.key(), v.why(q), rule.Audit})
		}
		if rule.Audit {
			if v.matched == facts.Yes || v.matched == facts.Unknown && !rule.lenient() {
				d.Shadow = append(d.Shadow, rule.shadow())
			}
			continue // nor is what it could not tell of any weight
		}
		if v.matched == facts.Unknown {
			d.Unknown = append(d.Unknown, rule.doubt(v, q))
		}
		if v.matched == facts.No || v.matched == facts.Unknown && rule.lenient() {
			continue
		}
		if rule.Action == facts.ActionAudit {
			d.Audited = append(d.Audited, Audited{rule.Name, rule.Position, rule.Reason, rule.stored})
			continue
		}
		d.Action, d.Propagation, d.OnUnmet = rule.Action, rule.Propagation, rule.OnUnmet
		d.Rule, d.Position, d.Reason = rule.Name, rule.Position, rule.Reason
		d.BySource = rule.match.names(keySource)
		return d
	}
	d.Action, d.Position = p.Default, p.position
	return d
}

func (r *Rule) shadow() facts.Shadow {
	return facts.Shadow{Rule: r.Name, Position: r.Position, Reason: r.Reason, Action: r.Action, Propagation: r.Propagation}
}

// doubt tells what was not known and how the rule was read because of it.
func (r *Rule) doubt(v verdict, q *query) string {
	read := "taken as matched"
	if r.lenient() {
		read = "taken as not matched"
	}
	return fmt.Sprintf("%s of rule %q: %s; %s", v.key(), r.Name, v.why(q), read)
}
