package policytest

import (
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
)

// Judge does what the daemon does at the creation of a container, in mode
// "enforce": it fills in what follows from the whole list of mounts, decides
// with a trace, and plans. The command line passes what the daemon uses.
type Judge func(p *policy.Policy, c facts.Container, env policy.Env, h Host) Judged

// Judged is what a policy does with a container.
type Judged struct {
	Decisions []policy.Decision // one a mount, with trace
	Outcomes  []facts.Outcome   // one a mount
	Hazards   []facts.Hazard    // that the policy does not ignore
}

// on judges a container on the host.
func (j Judge) on(h Host, p *policy.Policy, c facts.Container) Judged {
	c.Mounts = h.resolve(c)
	return j(p, c, h.env(p), h)
}
