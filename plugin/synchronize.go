package main

import (
	"context"
	"time"

	"github.com/containerd/nri/pkg/api"

	"github.com/mountward/mountward/pkg/audit"
	"github.com/mountward/mountward/pkg/facts"
)

const (
	// syncGrace is how old an entry must be before its container's absence from
	// the runtime's list means that it is gone: the list was made before we read
	// the directory.
	syncGrace = time.Minute
	// syncTime bounds what one container may take of a synchronization.
	syncTime = 5 * time.Second
	// syncRest is the most that is waited between two, in which a start has the
	// processor and the disk.
	syncRest = 100 * time.Millisecond
)

// Synchronize answers at once: the runtime stands still meanwhile, and two
// seconds are all it waits. A goroutine proves the running containers that we
// decided about, tells of those that nobody decided about, and forgets those
// that are gone.
func (p *plugin) Synchronize(_ context.Context, pods []*api.PodSandbox, containers []*api.Container) ([]*api.ContainerUpdate, error) {
	p.life.synchronize(p.daemon.now())
	p.daemon.recordConnected(len(containers))
	p.takeOver()
	p.daemon.lives.listed(containers)
	if p.daemon.standby.Load() == nil {
		p.background("the proof of what runs", func() { p.synchronize(p.ctx, pods, containers) })
	} else {
		p.roster.keep(pods, containers)
		p.background("the wait for the other instance", func() { p.watchStandby(p.ctx) })
	}
	p.daemon.state.synchronized()
	return nil, nil
}

func (p *plugin) synchronize(ctx context.Context, pods []*api.PodSandbox, containers []*api.Container) {
	d := p.daemon
	byID := podsByID(pods)
	listed := make(map[string]bool, len(containers))
	for _, c := range containers {
		listed[c.GetId()] = true
	}
	d.forget(listed)
	d.lives.keep(listed)
	p.learnState(ctx, containers)
	s := synchronization{p: p, first: d.first()}
	for _, c := range containers {
		if ctx.Err() != nil {
			return
		}
		if !runs(c) {
			continue
		}
		begun := time.Now()
		s.one(ctx, describe(byID[c.GetPodSandboxId()], c), int(c.GetPid()))
		rest(ctx, min(time.Since(begun), syncRest))
	}
	if s.first {
		s.summary.Policy = d.force.Load().record()
		d.trail.Load().Record(s.summary)
		d.noMoreFirst()
	}
	d.log().WithField("running", len(containers)).WithField("proved", s.proved).WithField("missed", s.missed).Info("synchronized with the runtime")
	p.logFailClosed(ctx)
}

// runs reports whether the runtime lists a container with a process.
func runs(c *api.Container) bool {
	state := c.GetState()
	return c.GetPid() != 0 && (state == api.ContainerState_CONTAINER_RUNNING || state == api.ContainerState_CONTAINER_PAUSED)
}

func rest(ctx context.Context, pause time.Duration) {
	select {
	case <-time.After(pause):
	case <-ctx.Done():
	}
}

// synchronization goes through what runs, one container after the other.
type synchronization struct {
	p              *plugin
	first          bool // of this node
	summary        audit.FirstStart
	proved, missed int
}

func (s *synchronization) one(ctx context.Context, container facts.Container, pid int) {
	p, d := s.p, s.p.daemon
	ctx, cancel := context.WithTimeout(ctx, syncTime)
	defer cancel()
	entry, known, err := d.ledger().Get(container.ID)
	if err != nil {
		d.log().WithError(err).Warn("cannot read what was decided of a running container")
		return
	}
	missed := !known || entry.Missed && s.first // of a first synchronization that did not come to its end
	if !known {
		entry.Container, entry.Outcomes = container, unjudged(container.Mounts)
	}
	x := p.examine(ctx, container, pid, entry)
	defer x.close()
	if p.ctx.Err() != nil || x.vanished(ctx) {
		return
	}
	if x.proven() {
		p.begin(x)
	}
	if !missed {
		if x.proven() && d.unseen(entry) {
			p.recordLate(x)
		}
		force := d.force.Load()
		d.recordDrift(x, force, nil)
		p.judgeAsAsked(ctx, container.ID, force)
		s.proved++
		return
	}
	force := d.force.Load()
	j := p.judge(ctx, x, force)
	if p.ctx.Err() != nil {
		return
	}
	d.countRunning(j, force)
	// The runtime may have removed it meanwhile; then nothing is kept of it.
	p.removed.unless(container.ID, func() {
		s.missed++
		if s.first {
			s.summary.Running++
			j.count(&s.summary)
			d.rememberMissed(j, force, true)
			return
		}
		d.miss(j, pid, force, nil)
		if x.proven() {
			p.recordTask(x, force)
		}
	})
}

// learnState finds the runtime's state directory by any container that runs.
func (p *plugin) learnState(ctx context.Context, containers []*api.Container) {
	for _, c := range containers {
		if _, known := p.host.runtimeState(); known || ctx.Err() != nil {
			return
		}
		if !runs(c) {
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
			continue
		}
		d.forgotten(id)
	}
}
