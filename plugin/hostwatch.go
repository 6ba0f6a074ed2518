package main

import (
	"context"
	"sync"
	"time"

	"github.com/mountward/mountward/pkg/audit"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

const (
	// hostPause is how often the paths of the host are looked at without a
	// change of its mounts: the kernel tells of no change of propagation. One
	// look is a lookup a path, some ten microseconds.
	hostPause = 5 * time.Second
	// hostPauseTable is the same where a lookup may read the whole table.
	hostPauseTable = time.Minute
	hostTime       = 5 * time.Second // for one look
)

// hostPaths is what was last known of the paths that are to be shared.
type hostPaths struct {
	mu     sync.Mutex
	shared map[string]bool
}

// see notes the state of a path. It reports whether it is another than before,
// and whether it was seen for the first time.
func (h *hostPaths) see(path string, shared bool) (changed, first bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before, known := h.shared[path]
	if h.shared == nil {
		h.shared = map[string]bool{}
	}
	h.shared[path] = shared
	return known && before != shared, !known
}

// watchHost looks at the paths of the host while the connection lasts: a kubelet
// makes its root shared after we have started, and somebody can make it private
// again.
func (p *plugin) watchHost(ctx context.Context) {
	select {
	case <-p.life.configured: // before it there are no settings
	case <-ctx.Done():
		return
	}
	changes, pause := p.host.view.Changed(), hostPause
	if p.host.view.Rung() != hostview.RungStatmount {
		changes, pause = nil, hostPauseTable
	}
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		if a := p.daemon.standsAside(); a == nil || !a.idle {
			p.lookAtHost(ctx)
		}
		select {
		case <-changes:
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// lookAtHost records what has changed. What cannot be told is no change.
func (p *plugin) lookAtHost(ctx context.Context) {
	d := p.daemon
	ctx, cancel := context.WithTimeout(ctx, hostTime)
	defer cancel()
	for i, path := range p.host.needed() {
		m, err := p.host.view.Lookup(ctx, path)
		if err != nil {
			continue
		}
		switch changed, first := d.hostPaths.see(path, m.State.Shared()); {
		case changed:
			d.trail.Load().Record(hostEvent(i, path, m))
		case first && !m.State.Shared():
			d.log().WithField("mount", m.Line()).Warnf("the %s %s is not shared in the runtime's namespace", neededFor(i), path)
		}
	}
}

func hostEvent(i int, path string, m facts.HostMount) audit.Host {
	return audit.Host{Path: path, What: neededFor(i), Shared: m.State.Shared(), Mount: m}
}
