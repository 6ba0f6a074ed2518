package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/containerd/containerd/v2/defaults"

	"github.com/mountward/mountward/pkg/apply"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/policy"
	"github.com/mountward/mountward/pkg/settings"
)

// prefixAge is how old what the policy's paths lead to may be at a creation. At
// start it is read anew.
const prefixAge = time.Second

// host is what is known of the runtime's side of one connection.
type host struct {
	view   *hostview.View
	daemon *daemon // whose settings may come after the connection
	// runtime is the process on the other side (hostview.RuntimeIdentity).
	runtime string

	mu         sync.Mutex // held for moments: nothing is looked for under it
	state      string     // containerd's state directory, once a bundle was found
	prefixes   map[string]facts.HostMount
	prefixesOf *policy.Policy
	prefixesAt time.Time // when they were kept
	lookedFrom time.Time // when it was begun to look them up
}

func newHost(view *hostview.View, d *daemon) *host {
	return &host{view: view, daemon: d, runtime: view.RuntimeIdentity()}
}

// vars returns the values of the policy's path variables as they are known now.
func (h *host) vars() policy.Vars {
	h.mu.Lock()
	defer h.mu.Unlock()
	set := h.daemon.settings.Host
	v := policy.Vars{
		KubeletRoot:  set.KubeletRoot,
		RuntimeState: set.RuntimeState,
		RuntimeRoot:  set.RuntimeRoot,
	}
	if v.KubeletRoot == settings.Auto {
		v.KubeletRoot = h.daemon.kubelet.last()
	}
	if v.RuntimeState == settings.Auto {
		v.RuntimeState = h.state
		if v.RuntimeState == "" {
			v.RuntimeState = defaults.DefaultStateDir
		}
	}
	if v.RuntimeRoot == settings.Auto {
		v.RuntimeRoot = defaults.DefaultRootDir
	}
	return v
}

// runtimeState returns the runtime's state directory where it is known for
// sure: from the settings, or from a bundle found in it.
func (h *host) runtimeState() (string, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if set := h.daemon.settings.Host.RuntimeState; set != settings.Auto {
		return set, true
	}
	return h.state, h.state != ""
}

// learnState remembers the runtime's state directory from a bundle found in
// it.
func (h *host) learnState(dir string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.state = dir
}

// env returns the variables and what the literal parts of the policy's paths
// lead to now. fresh does not trust what was read a moment ago.
func (h *host) env(ctx context.Context, p *policy.Policy, fresh bool) policy.Env {
	if h.daemon.settings.Host.KubeletRoot == settings.Auto {
		h.daemon.kubelet.refresh(ctx)
	}
	env := policy.Env{Vars: h.vars()}
	if env.Prefixes = h.kept(p); env.Prefixes != nil && !fresh {
		return env
	}
	begun := time.Now()
	env.Prefixes = map[string]facts.HostMount{}
	for _, path := range p.Prefixes(env.Vars) {
		if m, err := h.view.Lookup(ctx, path); err == nil {
			env.Prefixes[path] = m
		}
	}
	if ctx.Err() == nil { // else not all were looked at
		h.keep(p, env.Prefixes, begun)
	}
	return env
}

// kept returns what the policy's paths led to a moment ago, or nil.
func (h *host) kept(p *policy.Policy) map[string]facts.HostMount {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.prefixesOf != p || time.Since(h.prefixesAt) > prefixAge {
		return nil
	}
	return h.prefixes
}

// keep keeps what was looked up since begun, in place of what is older.
func (h *host) keep(p *policy.Policy, prefixes map[string]facts.HostMount, begun time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.prefixesOf != p || begun.After(h.lookedFrom) {
		h.prefixes, h.prefixesOf, h.prefixesAt, h.lookedFrom = prefixes, p, time.Now(), begun
	}
}

// resolve fills in what the host view knows of the mounts' sources, of those
// that have nothing yet.
func (h *host) resolve(ctx context.Context, mounts []facts.Mount) {
	for i := range mounts {
		m := &mounts[i]
		if !m.Bind() || m.Host != nil {
			continue
		}
		found, err := h.view.Lookup(ctx, m.Source)
		if err != nil {
			m.HostWhy = reason(err)
			continue
		}
		m.Host = &found
	}
}

// reason is the part of an error a finding carries.
func reason(err error) string {
	var cannot *hostview.CannotTell
	if errors.As(err, &cannot) {
		return cannot.Why
	}
	return err.Error()
}

// lookup is the view's Lookup with the context bound.
func (h *host) lookup(ctx context.Context) func(string) (facts.HostMount, error) {
	return func(path string) (facts.HostMount, error) { return h.view.Lookup(ctx, path) }
}

// table returns the runtime's mount table as apply wants it.
func (h *host) table(ctx context.Context) func() (apply.MountTable, error) {
	return apply.RuntimeTable(ctx, h.view)
}
