package apply

import (
	"fmt"

	"github.com/mountward/mountward/pkg/facts"
)

// coverOptionless gives a propagation word to the binds that have none where
// the last asked rshared was lowered. rootfsPropagation stays rshared (NRI can
// only raise it), and a bind without a word would then be a peer of its host
// mount: it would do what the lowered one no longer may. Where an rshared
// stays, such binds are left as they were asked, with a finding.
func (p *planner) coverOptionless(plan *Plan) {
	asked, stays, lowered := false, false, false
	for _, o := range plan.Outcomes {
		if o.Asked != facts.Shared || !o.Mount.Bind() {
			continue
		}
		asked = true
		if o.Decided == facts.Shared {
			stays = true
		} else if o.Result == facts.Applied || o.Result == facts.Deferred {
			lowered = true
		}
	}
	if !asked {
		return
	}
	for i := range plan.Outcomes {
		o := &plan.Outcomes[i]
		if !o.Mount.Bind() || o.Asked != facts.Unset || o.Decided != facts.Unset || o.Result != facts.Unchanged {
			continue
		}
		switch {
		case stays || !lowered:
			plan.Findings = append(plan.Findings, facts.Finding{
				Code:    "optionless-bind-beside-rshared",
				Message: fmt.Sprintf("%s has no propagation word and is a peer of its host mount, since another mount is rshared", o.Mount.Destination),
				Mount:   o.Mount.Destination,
			})
		default:
			p.cover(plan, o)
		}
	}
}

func (p *planner) cover(plan *Plan, o *facts.Outcome) {
	to := facts.Slave
	why, _ := p.unmet(*o, to)
	if why != "" {
		to = facts.Private
		why, _ = p.unmet(*o, to)
	}
	if why != "" && p.deferred(*o, to) != "" {
		if o.Mount.Host == nil || o.Mount.Host.State.Receives() {
			to = facts.Slave
		}
		o.Action, o.Decided, o.Result, o.Reason = facts.ActionSet, to, facts.Deferred, whyOptionless+"; "+why
		return
	}
	if why != "" {
		plan.Findings = append(plan.Findings, facts.Finding{
			Code:    "optionless-bind-beside-rshared",
			Message: fmt.Sprintf("%s has no propagation word beside a lowered rshared and cannot be given one: %s", o.Mount.Destination, why),
			Mount:   o.Mount.Destination,
		})
		return
	}
	o.Action, o.Decided, o.Result = facts.ActionSet, to, facts.Applied
	o.Reason = whyOptionless
}

const whyOptionless = "no propagation word beside a lowered rshared: rootfsPropagation stays rshared and would make it a peer of its host mount"
