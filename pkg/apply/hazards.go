package apply

import "github.com/mountward/mountward/pkg/facts"

// denyHazards refuses the mounts with a hazard that the policy denies. In a
// static pod they stay as they were decided: it is never refused.
func (p *planner) denyHazards(plan *Plan) {
	if p.NeverRefuse {
		return
	}
	first := make(map[string]int, len(plan.Outcomes))
	for i, o := range plan.Outcomes {
		if _, ok := first[o.Mount.Destination]; !ok {
			first[o.Mount.Destination] = i
		}
	}
	for _, h := range plan.Hazards {
		if h.Action != facts.HazardDeny || len(h.Destinations) == 0 {
			continue
		}
		if i, ok := first[h.Destinations[0]]; ok && plan.Outcomes[i].Result != facts.Refused {
			plan.Outcomes[i] = HazardRefusal(plan.Outcomes[i], h)
		}
	}
}

// HazardRefusal is the outcome of a mount that is refused because of a hazard.
func HazardRefusal(o facts.Outcome, h facts.Hazard) facts.Outcome {
	o.Action, o.Result = facts.ActionDeny, facts.Refused
	if o.Mount.Bind() {
		o.Decided = o.Asked
	}
	o.Rule, o.Position, o.Reason = "hazards."+string(h.Code), h.Position, "it "+h.Message
	if h.Doubt != "" {
		o.Reason += ", if " + h.Doubt
	}
	return o
}
