package apply

import (
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/policy"
	"github.com/mountward/mountward/pkg/verify"
)

// maxViews bounds the host's mounts of one superblock that are looked at for
// the one that a mount of the container comes from.
const maxViews = 256

// stray is a mount nobody asked for.
type stray struct {
	entry hostview.Entry
	mount facts.Mount
	host  *facts.HostMount // that it is a peer or a slave of, or that shows the same
}

// unasked returns a change for each mount nobody asked for that a rule sets, or
// that is a peer of the host only by what rootfsPropagation was left at. What it
// lets through is read from the kernel; nobody wrote it down.
func (p *namespacePlanner) unasked() []change {
	if p.Decide == nil {
		return nil
	}
	leftover := leftover(p.Outcomes)
	var strays []stray
	for _, s := range p.Located.Rest {
		if !p.Located.RuntimeMade(p.Outcomes, s) && !p.Located.CameAlong(p.Outcomes, s, p.Lookup) {
			strays = append(strays, strayOf(s.Entry, guess(s.Entry.State)))
		}
	}
	// What the host has is asked only about mounts that it matters of: that can
	// take the runtime's whole table.
	strays = p.keepIf(strays, func(s stray, d policy.Decision) bool {
		return d.Action == facts.ActionSet || leftover && s.entry.State.Shared()
	})
	for i := range strays {
		s := &strays[i]
		s.host = p.from(s.entry)
		observed := facts.Private
		if s.host != nil {
			observed = verify.Actual(s.entry.State, s.host.State)
		}
		*s = stray{s.entry, strayOf(s.entry, observed).mount, s.host}
	}
	var all []change
	p.keepIf(strays, func(s stray, d policy.Decision) bool {
		if c, ok := p.stray(s, d, leftover); ok {
			all = append(all, c)
		}
		return false
	})
	return all
}

// keepIf asks the policy about the mounts and keeps those that are wanted.
func (p *namespacePlanner) keepIf(strays []stray, wanted func(stray, policy.Decision) bool) []stray {
	if len(strays) == 0 {
		return nil
	}
	mounts := make([]facts.Mount, len(strays))
	for i, s := range strays {
		mounts[i] = s.mount
	}
	decisions := p.Decide(mounts)
	var kept []stray
	for i, s := range strays {
		if wanted(s, decisions[i]) {
			kept = append(kept, s)
		}
	}
	return kept
}

func guess(state facts.MountState) facts.Propagation {
	switch {
	case state.Shared():
		return facts.Shared
	case state.Receives():
		return facts.Slave
	default:
		return facts.Private
	}
}

func strayOf(e hostview.Entry, observed facts.Propagation) stray {
	return stray{entry: e, mount: facts.Mount{
		Destination: e.MountPoint, Type: "bind", Options: []string{"rbind", observed.Option()}, Actual: e.Identity(),
	}}
}

// leftover reports that rootfsPropagation is rshared only for mounts that are not
// any more.
func leftover(outcomes []facts.Outcome) bool {
	lowered := false
	for _, o := range outcomes {
		if o.Asked != facts.Shared || !o.Mount.Bind() {
			continue
		}
		if o.Expected() == facts.Shared {
			return false
		}
		lowered = true
	}
	return lowered
}

// stray judges one mount nobody asked for. A rule that raises must name what is
// mounted: one about destinations or names means what somebody asked for.
func (p *namespacePlanner) stray(s stray, d policy.Decision, leftover bool) (change, bool) {
	observed := s.mount.Requested()
	o := facts.Outcome{Mount: s.mount, Asked: observed, Decided: d.Propagation, Action: d.Action, Rule: d.Rule, Position: d.Position, Reason: d.Reason}
	switch {
	case d.Action == facts.ActionSet && (d.Propagation.Reach() < observed.Reach() || d.BySource && d.Propagation.Reach() > observed.Reach()):
		o.Required = onUnmet(d, observed, p.Raise, p.Lower) == policy.OnUnmetDeny && !p.NeverRefuse
	case d.Action == facts.ActionAllow && d.Rule == "" && leftover && observed == facts.Shared:
		o.Action, o.Decided, o.Reason = facts.ActionSet, facts.Slave, whyOptionless
	default:
		return change{}, false
	}
	c := change{index: -1, outcome: o, entry: s.entry}
	if s.host == nil {
		return c.unsure("no mount of the host shows what it is"), true
	}
	readOnly := slices.Contains(strings.Split(s.entry.Options, ","), "ro")
	return p.look(c, s.host.Canonical, readOnly), true
}

// from finds the host's mount that a mount of the container is a peer or a slave
// of, else one that shows the same.
func (p *namespacePlanner) from(e hostview.Entry) *facts.HostMount {
	table, err := p.Host.Table(p.ctx)
	if err != nil {
		return nil
	}
	var found *facts.HostMount
	views := table.ByDevice(e.Device)
	for _, view := range views[:min(len(views), maxViews)] {
		rest, ok := facts.Below(e.Root, view.Root)
		if !ok {
			continue
		}
		m, err := p.Lookup(facts.JoinRoot(view.MountPoint, rest))
		if err != nil || m.Identity() != e.Identity() {
			continue
		}
		if found == nil || verify.Actual(e.State, m.State).Reach() > verify.Actual(e.State, found.State).Reach() {
			found = &m
		}
	}
	return found
}

// idMapped reports a mount that maps ids. Linux 5.12 and later say so.
func idMapped(e hostview.Entry) bool {
	return slices.Contains(strings.Split(e.Options, ","), "idmapped")
}
