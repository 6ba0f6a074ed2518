package main

import (
	"context"
	"errors"
	"time"

	"github.com/mountward/mountward/pkg/audit"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/volumes"
)

const (
	// mapsAtOnce bounds how many maps are drawn at one time.
	mapsAtOnce = 4
	// mapWait is how long a map waits for a file system.
	mapWait = time.Second
	// mapTime bounds how long one may take: each question has a bound of its
	// own, and there can be hundreds.
	mapTime = 5 * time.Second
)

// recordTask records the map of a container that starts, which waits for
// nothing of it: its own table was read, and what the judged sources lead to. The
// rest is asked of the host while the container goes on, at once, so that one
// which soon ends is still there.
func (p *plugin) recordTask(x *examination, f *inForce) {
	p.daemon.inHand.take(x.container.ID)
	event := audit.Task{
		Container: audit.ContainerOf(x.container), Policy: f.record(),
		Task: volumes.Unmapped(x.pid, x.identity.Why),
	}
	if x.table == nil {
		p.daemon.recordStart(event)
		return
	}
	vars := p.host.vars()
	sources := volumes.Sources{
		Outcomes: x.entry.Outcomes, Container: x.table, Located: x.located, Host: p.host.view.Patient(mapWait), Devices: p.daemon.devices,
		Raw: x.container.Devices, PodUID: x.container.Pod.UID,
		KubeletRoot: vars.KubeletRoot, RuntimeDirs: []string{vars.RuntimeState, vars.RuntimeRoot},
	}
	rootfs := x.bundle.Rootfs()
	p.background("the map of a task", func() {
		p.maps <- struct{}{}
		defer func() { <-p.maps }()
		ctx, cancel := context.WithTimeout(p.ctx, mapTime)
		defer cancel()
		// The handler's context is over by now.
		sources.Lookup = x.answers.By(func(path string) (facts.HostMount, error) { return sources.Host.Lookup(ctx, path) })
		event.Task = volumes.Map(ctx, sources, event.PID, rootfs)
		event.Stored = x.stored(ctx, f, event.Task)
		p.recordViews(event, vars.KubeletRoot)
	})
}

var errBusy = errors.New("too many containers start or end at one time")

// recordViews records a map when it is known where else the host has its
// volumes mounted. That is in the runtime's whole table, which is stale after
// each mount.
func (p *plugin) recordViews(event audit.Task, kubeletRoot string) {
	if !event.HasViews() {
		p.daemon.recordStart(event)
		return
	}
	if !p.chores.add(func(ctx context.Context) {
		table, err := p.chores.table(ctx)
		event.SetViews(table, err, kubeletRoot)
		p.daemon.recordStart(event)
	}) {
		event.SetViews(nil, errBusy, kubeletRoot)
		p.daemon.recordStart(event)
	}
}
