package apply

import (
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hazard"
	"github.com/mountward/mountward/pkg/policy"
)

// Judge decides about a container and plans what becomes of it: it fills in what
// follows from the whole list of mounts, the container's Role and Hazards, asks
// the policy, with a trace where it is wanted, and lets Spec do the rest. r needs
// no Container, Decisions or Hazards.
func Judge(p *policy.Policy, c *facts.Container, env policy.Env, r Request, trace bool) (Plan, []policy.Decision) {
	where := hazard.Host{KubeletRoot: env.KubeletRoot, RuntimeState: env.RuntimeState}
	c.Role = facts.Role(c.Mounts, env.KubeletRoot)
	c.Hazards = hazard.Check(hazard.Asked(*c, where))
	r.Container, r.Decisions = *c, p.Decide(*c, env, trace)
	r.Hazards = func(outcomes []facts.Outcome) []facts.Hazard {
		return p.Judge(hazard.After(*c, outcomes, where))
	}
	return Spec(r), r.Decisions
}
