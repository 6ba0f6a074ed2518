package main

import (
	"context"
	"time"

	"github.com/containerd/nri/pkg/api"
)

// syncGrace is how old an entry must be before its container's absence from
// the runtime's list means that it is gone: the list was made before we read
// the directory.
const syncGrace = time.Minute

// Synchronize answers at once: the runtime stands still meanwhile, and two
// seconds are all it waits. A goroutine proves the running containers that we
// decided about and forgets those that are gone.
func (p *plugin) Synchronize(_ context.Context, pods []*api.PodSandbox, containers []*api.Container) ([]*api.ContainerUpdate, error) {
	byID := make(map[string]*api.PodSandbox, len(pods))
	for _, pod := range pods {
		byID[pod.GetId()] = pod
	}
	p.synced.Store(true)
	p.background("the proof of what runs", func() { p.synchronize(p.ctx, byID, containers) })
	p.daemon.state.synchronized()
	return nil, nil
}

func (p *plugin) synchronize(ctx context.Context, pods map[string]*api.PodSandbox, containers []*api.Container) {
	d := p.daemon
	listed := make(map[string]bool, len(containers))
	for _, c := range containers {
		listed[c.GetId()] = true
	}
	d.forget(listed)
	d.lives.keep(listed)
	p.learnState(ctx, containers)
	proved := 0
	for _, c := range containers {
		if ctx.Err() != nil {
			return
		}
		entry, ok, err := d.ledger().Get(c.GetId())
		if err != nil {
			d.log().WithError(err).Warn("cannot read what was decided of a running container")
		}
		if !ok || c.GetPid() == 0 || c.GetState() != api.ContainerState_CONTAINER_RUNNING {
			continue
		}
		x := p.examine(ctx, describe(pods[c.GetPodSandboxId()], c), int(c.GetPid()), entry)
		x.close()
		if x.proven() {
			p.begin(x)
			if d.unseen(entry) {
				p.recordLate(x)
			}
		}
		d.recordDrift(x, d.force.Load(), nil)
		proved++
	}
	d.log().WithField("running", len(containers)).WithField("proved", proved).Info("synchronized with the runtime")
	p.logFailClosed(ctx)
}

// learnState finds the runtime's state directory by any container that runs.
func (p *plugin) learnState(ctx context.Context, containers []*api.Container) {
	for _, c := range containers {
		if _, known := p.host.runtimeState(); known || ctx.Err() != nil {
			return
		}
		if c.GetPid() == 0 || c.GetState() != api.ContainerState_CONTAINER_RUNNING {
			continue
		}
		if b, err := p.host.view.FindBundle(ctx, c.GetId(), int(c.GetPid()), ""); err == nil {
			p.host.learnState(stateOf(b.Dir))
		}
	}
}

// forget removes entries of containers that the runtime no longer has.
func (d *daemon) forget(listed map[string]bool) {
	ids, err := d.ledger().List()
	if err != nil {
		d.log().WithError(err).Warn("cannot list what was decided")
		return
	}
	for _, id := range ids {
		if listed[id] {
			continue
		}
		entry, ok, err := d.ledger().Get(id)
		if err == nil && ok && d.now().Sub(entry.Created) < syncGrace {
			continue
		}
		if err == nil && ok && d.unseen(entry) {
			d.recordUnseen(entry, "the container is gone, and mountward was away or ended when it would have started: whether its own code ran cannot be told")
		}
		if err := d.ledger().Remove(id); err != nil {
			d.log().WithError(err).Warn("cannot forget a container that is gone")
		}
	}
}
