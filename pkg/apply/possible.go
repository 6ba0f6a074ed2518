package apply

import (
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

// Possible answers whether what became of a decision can come true where the
// host's mount is as Outcome.Mount.Host says it is. containerd refuses a container
// that asks for what its host mount cannot give; where mountward sets it, Spec has
// judged it and Result says so.
func Possible(o facts.Outcome) facts.Answer {
	switch {
	case o.Result == facts.Refused:
		return facts.Is(false, "the container is refused")
	case o.Result == facts.Left && strings.Contains(o.Reason, whyUnjudged):
		return facts.CannotTell(o.Reason)
	case o.Result == facts.Left && o.Wanted != facts.Unset:
		return facts.Is(false, o.Reason)
	case o.Decided == facts.Unset:
		return facts.Is(true, "it has what the container's root has, and asks nothing of the host")
	case o.Decided.Reach() == facts.Private.Reach():
		return facts.Is(true, "it takes nothing from the host")
	case o.Mount.Host == nil:
		why := o.Mount.HostWhy
		if why == "" {
			why = "the host was not looked at"
		}
		return facts.CannotTell(why)
	case !accepts(o.Mount.Host.State, o.Decided):
		return facts.Is(false, unable(o.Mount.Host.MountPoint, o.Mount.Host.State, o.Decided))
	default:
		return facts.Is(true, "its host mount "+o.Mount.Host.MountPoint+" is "+o.Mount.Host.State.String())
	}
}
