package apply

import (
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
)

// uncarried says why the specification can carry no change to a mount at all,
// and "" where it can carry some. These are the mounts that the namespace applier
// is for.
func (p *planner) uncarried(m facts.Mount) string {
	switch {
	case p.Container.UserNamespace:
		return "the container has a user namespace and NRI would drop the mount's id mapping"
	case p.destinations[m.CleanDestination()] > 1:
		return "another mount has the destination " + m.CleanDestination()
	case strings.HasPrefix(m.Destination, "-"):
		return "NRI cannot address a destination that starts with -"
	default:
		return ""
	}
}

// deferred says why what was decided about a mount is left to the namespace
// applier, and "" where that is not asked for, not needed, or known to be of no
// use: what the kernel could not do there is found here and not by its error.
func (p *planner) deferred(o facts.Outcome, to facts.Propagation) string {
	if !p.Namespace || to == facts.Shared || p.forbidden(o, to) != "" {
		return ""
	}
	host := o.Mount.Host
	if to.Reach() > o.Asked.Reach() && host != nil && !host.State.Receives() {
		return ""
	}
	return p.uncarried(o.Mount)
}

// onUnmet is what happens to a mount where its decision cannot be made true.
func onUnmet(d policy.Decision, asked facts.Propagation, raise, lower policy.OnUnmet) policy.OnUnmet {
	switch {
	case d.OnUnmet != "":
		return d.OnUnmet
	case d.Propagation.Reach() < asked.Reach():
		return lower
	default:
		return raise
	}
}
