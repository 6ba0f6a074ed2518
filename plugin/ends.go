package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/mountward/mountward/pkg/audit"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/leftover"
	"github.com/mountward/mountward/pkg/volumes"
)

const (
	// endGrace is how long after a container's end its mounts may take to go:
	// the kubelet unmounts volumes once all containers of the pod have ended.
	endGrace = 20 * time.Second
	// baselineTime bounds how long a creation waits for the runtime's table.
	// Only that of a container which shares mounts with the host does.
	baselineTime = 300 * time.Millisecond
)

// before notes what is mounted below the paths that a container is going to
// share with the host, before the runtime mounts them: one in another doubles
// what is there at once.
func (p *plugin) before(ctx context.Context, container facts.Container, outcomes []facts.Outcome) {
	var shared []string
	for _, o := range outcomes {
		if o.Mount.Bind() && o.Expected() == facts.Shared && o.Mount.Host != nil {
			shared = append(shared, o.Mount.Host.Canonical)
		}
	}
	if len(shared) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, baselineTime)
	defer cancel()
	table, err := p.host.view.Table(ctx)
	if err != nil {
		return // it is taken at the start
	}
	baseline := leftover.Remember(table, shared)
	p.daemon.lives.change(container, func(l *life) { l.shared, l.baseline = shared, baseline })
}

// begin remembers a container that was proved to run. Without a baseline from
// its creation, one is taken a moment later.
func (p *plugin) begin(x *examination) {
	now := p.daemon.lives.change(x.container, func(l *life) {
		l.container, l.rootfs, l.ended, l.stopped = x.container, x.bundle.Rootfs(), false, false
		if l.baseline == nil {
			l.shared = x.shared()
		}
	})
	if len(now.shared) == 0 || now.baseline != nil {
		return
	}
	p.chores.add(func(ctx context.Context) {
		table, err := p.chores.table(ctx)
		if err != nil {
			return // without a baseline nothing is told that needs one
		}
		baseline := leftover.Remember(table, now.shared)
		p.daemon.lives.update(x.container.ID, func(l *life) { l.baseline = baseline })
	})
}

// shared returns the paths of the host below which the container can mount.
func (x *examination) shared() []string {
	var paths []string
	for i := range x.located.Places {
		if x.isPeer(i) {
			host, _ := x.lookup(x.entry.Outcomes[i].Mount.Source) // which isPeer asked for
			paths = append(paths, host.Canonical)
		}
	}
	return paths
}

// isPeer reports whether a mount is in one peer group with its source on the
// host: what the container mounts on it appears there.
func (x *examination) isPeer(i int) bool {
	place := x.located.Places[i]
	if !place.Found || place.Entry.State.Peer == 0 {
		return false
	}
	host, err := x.lookup(x.entry.Outcomes[i].Mount.Source)
	return err == nil && host.State.Peer == place.Entry.State.Peer
}

// ended looks, some time after a container's end, for what of it is still
// mounted. removed says that no other end of it will come.
func (p *plugin) ended(container facts.Container, removed bool) {
	now, first := p.daemon.lives.end(container)
	if first && len(now.shared) > 0 {
		p.chores.add(func(ctx context.Context) { p.noteEnd(ctx, now) })
	}
	time.AfterFunc(endGrace, func() {
		p.daemon.safely("the search for leftovers", func() { p.lookAfter(now, removed) })
	})
}

// lookAfter looks for leftovers when the time for them to go is over.
func (p *plugin) lookAfter(now life, removed bool) {
	if later, known := p.daemon.lives.get(now.container.ID); known {
		now = later
	}
	looks := p.chores.add(func(ctx context.Context) { p.lookForLeftovers(ctx, now) })
	if !looks && p.ctx.Err() == nil {
		p.daemon.log().Warnf("too much to do: it is not looked for what container %s left mounted", now.container.ID)
	}
	if removed {
		p.daemon.lives.remove(now.container.ID)
	}
}

// noteEnd notes what is mounted below the paths that a container shared with the
// host: what comes later is not its own.
func (p *plugin) noteEnd(ctx context.Context, l life) {
	table, err := p.chores.table(ctx)
	if err != nil {
		return // nothing is told that needs it
	}
	atEnd := leftover.Remember(table, l.shared)
	p.daemon.lives.update(l.container.ID, func(l *life) { l.atEnd = atEnd })
}

func (p *plugin) lookForLeftovers(ctx context.Context, l life) {
	d := p.daemon
	if ctx.Err() != nil {
		return
	}
	table, err := p.chores.table(ctx)
	if err != nil {
		d.log().WithError(err).Warn("cannot tell what an ended container left mounted")
		return
	}
	vars := p.host.vars()
	found := leftover.End{
		Rootfs: l.rootfs, PodUID: l.container.Pod.UID, Shared: l.shared, Baseline: l.baseline, AtEnd: l.atEnd,
		KubeletRoot: vars.KubeletRoot, RuntimeDirs: []string{vars.RuntimeState, vars.RuntimeRoot},
		Alive: p.alive(ctx),
		Others: func(path string) bool {
			return slices.ContainsFunc(l.others, func(dir string) bool { return facts.Within(path, dir) })
		},
	}.Find(table)
	event := audit.Leftover{Container: audit.ContainerOf(l.container)}
	for _, m := range found {
		if !d.lives.tell(m) {
			continue
		}
		event.Mounts = append(event.Mounts, audit.LeftoverMount{
			Code: m.Code, Path: m.MountPoint, Why: m.Why, Count: m.Count, FSType: m.FSType, Line: m.HostMount(m.MountPoint).Line(),
			Backing: volumes.BackingOf(d.devices, m.Device, m.FSType),
		})
	}
	if len(event.Mounts) > 0 {
		d.trail.Load().Record(event)
	}
}

// alive returns whether a pod has a task, read when it is first asked. A pod of
// which that cannot be told is taken to live, and the log says why.
func (p *plugin) alive(ctx context.Context) func(uid string) bool {
	var pods map[string]bool
	read := false
	return func(uid string) bool {
		if !read {
			read = true
			var err error
			if pods, err = p.livePods(ctx); err != nil {
				p.daemon.log().WithError(err).Warn("cannot tell whether what is mounted for a pod is left behind")
			}
		}
		return pods == nil || pods[uid]
	}
}

// livePods returns the uids of the pods that have a task.
func (p *plugin) livePods(ctx context.Context) (map[string]bool, error) {
	state, ok := p.host.runtimeState()
	if !ok {
		return nil, errors.New("the runtime's state directory is not known yet; host.runtime_state in the settings tells it")
	}
	view := p.host.view.Patient(mapWait)
	bundles, err := view.Bundles(ctx, state)
	if err != nil {
		return nil, err
	}
	pods := map[string]bool{}
	for _, b := range bundles {
		spec, err := view.Spec(ctx, b)
		if err != nil {
			if _, gone := view.Lookup(ctx, b.Dir); errors.Is(gone, fs.ErrNotExist) {
				continue // removed since it was listed
			}
			return nil, fmt.Errorf("find the pods that live: %w", err)
		}
		pods[spec.Container(b).Pod.UID] = true
	}
	return pods, nil
}
