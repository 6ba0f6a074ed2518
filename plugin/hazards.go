package main

import (
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/apply"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hazard"
	"github.com/mountward/mountward/pkg/policy"
)

// dangerous tells where the sources are that are dangerous to share or follow.
func dangerous(v policy.Vars) hazard.Host {
	return hazard.Host{KubeletRoot: v.KubeletRoot, RuntimeState: v.RuntimeState}
}

// askedHazards returns the hazards of the mounts as they were asked for.
func askedHazards(container facts.Container, asked []facts.Mount, where hazard.Host) []facts.Hazard {
	container.Mounts = asked
	return hazard.Check(hazard.Asked(container, where))
}

// hazards returns what the kernel's table shows and neither the asked nor the
// decided list did, or only in doubt.
func (x *examination) hazards(force *inForce) []facts.Hazard {
	if !x.proven() || x.table == nil || len(x.entry.Outcomes) == 0 {
		return nil
	}
	found := hazard.Check(x.mounted())
	if len(found) == 0 {
		return nil
	}
	where := dangerous(x.host.vars())
	container := x.entry.Container
	asked := make([]facts.Mount, len(x.entry.Outcomes))
	for i, o := range x.entry.Outcomes {
		asked[i] = o.Mount
	}
	container.Hazards = askedHazards(container, asked, where)
	known := slices.Concat(container.Hazards, hazard.After(container, x.entry.Outcomes, where))
	return force.policy.Judge(hazard.Without(found, known))
}

// mounted is the list of mounts as the kernel has it.
func (x *examination) mounted() hazard.List {
	l := hazard.List{
		Stage: facts.StageMounted, UserNamespace: x.entry.Container.UserNamespace, ContainerID: x.container.ID,
		Mounts: make([]hazard.Mount, len(x.entry.Outcomes)),
	}
	root, rooted := x.table.At("/")
	for i, o := range x.entry.Outcomes {
		m := hazard.Mount{Mount: o.Mount, Asked: o.Asked, Propagation: facts.Private}
		place := x.located.Places[i]
		if place.Found {
			m.At = place.Entry.MountPoint
			m.OwnRootfs = rooted && o.Mount.Bind() && place.Entry.Device == root.Device && facts.Within(place.Entry.Root, root.Root)
			if x.isPeer(i) {
				m.Propagation = facts.Shared
			}
		}
		l.Mounts[i] = m
	}
	for _, stray := range x.located.Rest {
		if stray.On < 0 {
			continue
		}
		m := &l.Mounts[stray.On]
		if m.Bind() && m.ReadOnly() && !m.RecursiveReadOnly() && strings.HasPrefix(stray.Entry.Options, "rw") && !strings.HasPrefix(stray.Entry.SuperOptions, "ro") {
			if m.Writable++; m.Writable == 1 {
				m.WritableAt = stray.Entry.MountPoint
			}
		}
	}
	return l
}

// deniedHazard returns why the container must not start.
func deniedHazard(x *examination, hazards []facts.Hazard) error {
	for _, h := range hazards {
		if h.Action != facts.HazardDeny {
			continue
		}
		for i, o := range x.entry.Outcomes {
			// What could be another mount as well is not sure enough.
			if o.Mount.Destination == h.Destinations[0] && x.located.Places[i].Sure {
				return &refusedMount{apply.HazardRefusal(o, h)}
			}
		}
	}
	return nil
}
