package hazard

import (
	"path"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

// List is the mounts of one container at one stage.
type List struct {
	Stage         facts.HazardStage
	Mounts        []Mount // in the order in which the runtime mounts them
	UserNamespace bool
	ContainerID   string
	Host          Host
}

// Host is where dangerous sources are. An empty path is not known, and nothing
// is found there.
type Host struct {
	KubeletRoot  string // such as /var/lib/kubelet
	RuntimeState string // such as /run/containerd
}

// Mount is one mount of a list.
type Mount struct {
	facts.Mount
	Asked facts.Propagation
	// Propagation is what the mount has at this stage. At StageMounted it is
	// Shared only where the kernel has it in its source's peer group.
	Propagation facts.Propagation

	// The rest is known at StageMounted alone. A mount that was not found in
	// the container's table has no At.
	At         string // mount point
	Writable   int    // how many mounts below it are writable although it is not
	WritableAt string // the first of them
	OwnRootfs  bool   // it shows the root file system of its own container
}

// Asked returns the list that a container asks for.
func Asked(c facts.Container, host Host) List {
	l := List{Stage: facts.StageAsked, UserNamespace: c.UserNamespace, ContainerID: c.ID, Host: host}
	l.Mounts = make([]Mount, len(c.Mounts))
	for i, m := range c.Mounts {
		asked := m.Requested()
		l.Mounts[i] = Mount{Mount: m, Asked: asked, Propagation: asked}
	}
	return l
}

// Decided returns the list as it was decided, or in audit mode would have been:
// with the propagation of each outcome, and in the order the runtime gives it.
func Decided(c facts.Container, outcomes []facts.Outcome, host Host) List {
	l := List{Stage: facts.StageDecided, UserNamespace: c.UserNamespace, ContainerID: c.ID, Host: host}
	l.Mounts = make([]Mount, len(outcomes))
	changed := false
	for i, o := range outcomes {
		l.Mounts[i] = Mount{Mount: o.Mount, Asked: o.Asked, Propagation: during(o)}
		changed = changed || o.Result == facts.Applied
	}
	if changed {
		slices.SortStableFunc(l.Mounts, sorted)
	}
	return l
}

// After returns the hazards of the list as it was decided, of a container of
// which Hazards were asked for. Those that were there before keep their stage.
func After(c facts.Container, outcomes []facts.Outcome, host Host) []facts.Hazard {
	if !slices.ContainsFunc(outcomes, func(o facts.Outcome) bool { return during(o) != o.Asked || o.Result == facts.Applied }) {
		return c.Hazards // nothing is another than what was asked
	}
	asked := index(c.Hazards)
	decided := Check(Decided(c, outcomes, host))
	for i, h := range decided {
		if _, ok := asked[key(h)]; ok {
			decided[i].Stage = facts.StageAsked
		}
	}
	return decided
}

// Without returns the hazards that are not among the known ones. One that was
// in doubt there is known no more than before.
func Without(hazards, known []facts.Hazard) []facts.Hazard {
	sure := index(known)
	var rest []facts.Hazard
	for _, h := range hazards {
		if doubt, ok := sure[key(h)]; !ok || doubt != "" && h.Doubt == "" {
			rest = append(rest, h)
		}
	}
	return rest
}

// index maps what makes hazards the same to what they rest on.
func index(hazards []facts.Hazard) map[string]string {
	doubts := make(map[string]string, len(hazards))
	for _, h := range hazards {
		doubts[key(h)] = h.Doubt
	}
	return doubts
}

// key is the same for the same danger of the same mounts, at whatever stage. No
// destination has a zero byte.
func key(h facts.Hazard) string {
	return string(h.Code) + "\x00" + strings.Join(h.Destinations, "\x00")
}

// during is the most that a mount lets through between the moment the runtime
// makes it and the start of the container.
func during(o facts.Outcome) facts.Propagation {
	switch {
	case o.Result == facts.Applied:
		return o.Decided
	case o.Result == facts.Deferred && o.Decided.Reach() > o.Asked.Reach():
		return o.Decided
	default:
		return o.Asked
	}
}

// sorted is the order of the runtime's list once a plugin changed any mount.
// Source: nri v0.12.3 pkg/runtime-tools/generate, orderedMounts; it does not
// say in which order mounts with one destination come.
func sorted(a, b Mount) int {
	if d := parts(a.Destination) - parts(b.Destination); d != 0 {
		return d
	}
	return strings.Compare(a.Destination, b.Destination)
}

func parts(destination string) int { return strings.Count(path.Clean(destination), "/") }
