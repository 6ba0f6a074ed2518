package main

import (
	"context"
	"sync"
	"time"

	"github.com/mountward/mountward/pkg/audit"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/leftover"
	"github.com/mountward/mountward/pkg/volumes"
)

// endGrace is how long after a container's end its mounts may take to go: the
// kubelet unmounts volumes once all containers of the pod have ended.
const endGrace = 20 * time.Second

// ends is what is kept of containers that run for the time after their end.
type ends struct {
	mu   sync.Mutex
	byID map[string]*life
}

// life is one container while it runs.
type life struct {
	container facts.Container
	rootfs    string
	shared    []string // canonical paths of the host that it can mount below
	baseline  *leftover.Baseline
	told      map[string]bool // paths that were recorded as left
}

func newEnds() *ends { return &ends{byID: map[string]*life{}} }

func (e *ends) put(id string, l *life) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.byID[id] = l
}

// get returns a copy: what is in it is not changed any more, but for told,
// which is the business of chores alone.
func (e *ends) get(id string) (life, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	l, ok := e.byID[id]
	if !ok {
		return life{}, false
	}
	return *l, true
}

func (e *ends) remove(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.byID, id)
}

// keep forgets all that are not listed.
func (e *ends) keep(listed map[string]bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for id := range e.byID {
		if !listed[id] {
			delete(e.byID, id)
		}
	}
}

// others reports whether another container shares a path with the host.
func (e *ends) others(id, path string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for other, l := range e.byID {
		if other == id {
			continue
		}
		for _, dir := range l.shared {
			if facts.Within(path, dir) {
				return true
			}
		}
	}
	return false
}

// begin remembers a container that was proved to run. What is mounted below
// the paths it shares with the host is noted a moment later.
func (p *plugin) begin(x *examination) {
	l := &life{container: x.container, rootfs: x.bundle.Rootfs(), shared: x.shared(), told: map[string]bool{}}
	p.daemon.ends.put(x.container.ID, l)
	if len(l.shared) == 0 {
		return
	}
	p.chores.add(func(ctx context.Context) {
		table, err := p.chores.table(ctx)
		if err != nil {
			return // without a baseline nothing is told that needs one
		}
		with := *l
		with.baseline = leftover.Remember(table, l.shared)
		p.daemon.ends.put(x.container.ID, &with)
	})
}

// shared returns the paths of the host below which the container can mount.
func (x *examination) shared() []string {
	var paths []string
	for i, place := range x.located.Places {
		if !place.Found || place.Entry.State.Peer == 0 {
			continue
		}
		host, err := x.lookup(x.entry.Outcomes[i].Mount.Source)
		if err == nil && host.State.Peer == place.Entry.State.Peer {
			paths = append(paths, host.Canonical)
		}
	}
	return paths
}

// ended looks, some time after a container's end, for what of it is still
// mounted. removed says that no other end of it will come.
func (p *plugin) ended(container facts.Container, removed bool) {
	l, ok := p.daemon.ends.get(container.ID)
	if !ok {
		l = life{container: container, told: map[string]bool{}}
	}
	time.AfterFunc(endGrace, func() {
		p.chores.add(func(ctx context.Context) { p.lookForLeftovers(ctx, l, removed) })
	})
}

func (p *plugin) lookForLeftovers(ctx context.Context, l life, removed bool) {
	d := p.daemon
	if ctx.Err() != nil {
		return
	}
	if now, ok := d.ends.get(l.container.ID); ok {
		l = now // the baseline may have come since
	}
	if removed {
		d.ends.remove(l.container.ID)
	}
	table, err := p.chores.table(ctx)
	if err != nil {
		d.log().WithError(err).Warn("cannot tell what an ended container left mounted")
		return
	}
	vars := p.host.vars()
	found := leftover.End{
		Rootfs: l.rootfs, PodUID: l.container.Pod.UID, Shared: l.shared, Baseline: l.baseline,
		KubeletRoot: vars.KubeletRoot, RuntimeDirs: []string{vars.RuntimeState, vars.RuntimeRoot},
		Alive:  p.alive(ctx, vars.RuntimeState),
		Others: func(path string) bool { return d.ends.others(l.container.ID, path) },
	}.Find(table)
	event := audit.Leftover{Container: audit.ContainerOf(l.container)}
	for _, m := range found {
		if l.told[m.MountPoint] {
			continue
		}
		l.told[m.MountPoint] = true
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
// which that cannot be told is taken to live.
func (p *plugin) alive(ctx context.Context, state string) func(uid string) bool {
	var pods map[string]bool
	read := false
	return func(uid string) bool {
		if !read {
			read = true
			pods = p.livePods(ctx, state)
		}
		return pods == nil || pods[uid]
	}
}

// livePods returns the uids of the pods that have a task, nil where not all
// could be read.
func (p *plugin) livePods(ctx context.Context, state string) map[string]bool {
	view := p.host.view.Patient(mapWait)
	bundles, err := view.Bundles(ctx, state)
	if err != nil {
		return nil
	}
	pods := map[string]bool{}
	for _, b := range bundles {
		spec, err := view.Spec(ctx, b)
		if err != nil {
			return nil
		}
		pods[spec.Container(b).Pod.UID] = true
	}
	return pods
}
