package main

import (
	"context"
	"time"

	"github.com/mountward/mountward/pkg/audit"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
	"github.com/mountward/mountward/pkg/volumes"
)

// volumesWait is how long a container waits for all that the kubelet's
// directories tell of its volumes. What is not known then stays unknown.
const volumesWait = 50 * time.Millisecond

// volumes fills in which volumes the mounts are of, as far as the policy asks.
// The sources were resolved before.
func (h *host) volumes(ctx context.Context, p *policy.Policy, c *facts.Container, kubeletRoot string) {
	if !p.AsksVolumes() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, volumesWait)
	defer cancel()
	wanted := volumes.Wanted{Kind: p.AsksKinds(), Driver: p.AsksDrivers()}
	for i := range c.Mounts {
		m := &c.Mounts[i]
		v, path := facts.VolumeOf(c, m, kubeletRoot)
		m.Volume = volumes.Complete(ctx, h.view, v, path, wanted)
	}
}

// stored returns the rules about logical volumes that match the mounts of a
// container, now that its map is drawn. They only record: that is why they can
// wait until here. Nothing is returned where there is no map, which says why.
func (x *examination) stored(ctx context.Context, force *inForce, task volumes.Task) []audit.Stored {
	if !force.policy.AsksStorage() || len(task.Mounts) == 0 {
		return nil
	}
	container := x.made(force)
	env := x.judged(ctx, &container, force, false) // others wait for who reads it anew
	for i, o := range x.entry.Outcomes {
		m := o.Mount
		if !m.Bind() {
			continue
		}
		s := task.Mounts[len(container.Mounts)].Stored() // the map has the binds, in their order
		m.Storage = &s
		if place := x.located.Places[i]; place.Found {
			m.Actual = place.Entry.Identity()
		}
		container.Mounts = append(container.Mounts, m)
	}
	x.host.resolve(ctx, container.Mounts)
	x.host.volumes(ctx, force.policy, &container, env.KubeletRoot)
	var all []audit.Stored
	for i, d := range force.policy.Decide(container, env, false) {
		for _, a := range d.Audited {
			if a.Stored {
				s := audit.Stored{Mount: container.Mounts[i].Destination, Rule: a.Rule, Position: a.Position, Reason: a.Reason}
				if a.Unknown != "" {
					s.Unknown = []string{a.Unknown}
				}
				all = append(all, s)
			}
		}
	}
	return all
}
