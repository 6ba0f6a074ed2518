package cli

import (
	"context"
	"path"
	"strings"

	"github.com/containerd/containerd/v2/defaults"

	"github.com/mountward/mountward/pkg/apply"
	"github.com/mountward/mountward/pkg/discover"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/manifest"
	"github.com/mountward/mountward/pkg/policy"
	"github.com/mountward/mountward/pkg/settings"
)

// values are where the kubelet and the runtime of the node keep things.
type values = policy.Vars

// judge decides about containers as the daemon would.
type judge struct {
	policy   *policy.Policy
	settings settings.Settings
	env      policy.Env
	host     *hostview.View // nil: the host is not looked at
	// checked says that the mount table of this process is the runtime's.
	checked bool
}

// valuesWithout are the values where no host is looked at: what the settings say,
// else the usual.
func valuesWithout(s settings.Settings) values {
	set := func(value, usual string) string {
		if value == settings.Auto {
			return usual
		}
		return value
	}
	return values{
		KubeletRoot:  set(s.Host.KubeletRoot, discover.DefaultKubeletRoot),
		RuntimeState: set(s.Host.RuntimeState, defaults.DefaultStateDir),
		RuntimeRoot:  set(s.Host.RuntimeRoot, defaults.DefaultRootDir),
	}
}

// values are those of this node.
func (n *node) values() values {
	v := valuesWithout(n.settings)
	v.KubeletRoot, v.RuntimeRoot = n.kubelet.root, n.runtimeRoot()
	if n.settings.Host.RuntimeState == settings.Auto && len(n.states) > 0 {
		v.RuntimeState = n.states[0]
	}
	return v
}

// judgeOf is a judge for this node, or without one where n is nil.
func judgeOf(ctx context.Context, p *policy.Policy, s settings.Settings, n *node) judge {
	if n == nil {
		j := judge{policy: p, settings: s, env: policy.Env{Vars: valuesWithout(s), Prefixes: map[string]facts.HostMount{}}}
		for _, prefix := range p.Prefixes(j.env.Vars) {
			j.env.Prefixes[prefix] = oneFileSystem(prefix)
		}
		return j
	}
	j := judge{policy: p, settings: s, env: policy.Env{Vars: n.values(), Prefixes: map[string]facts.HostMount{}}, host: n.view}
	j.checked = n.view.Namespace().Truth == facts.Yes
	for _, prefix := range p.Prefixes(j.env.Vars) {
		if m, err := n.view.Lookup(ctx, prefix); err == nil {
			j.env.Prefixes[prefix] = m
		}
	}
	return j
}

// resolve fills in what the host view knows of the sources.
func (j judge) resolve(ctx context.Context, s *manifest.Subject) {
	for i := range s.Container.Mounts {
		m := &s.Container.Mounts[i]
		switch {
		case !m.Bind():
			continue
		case j.host == nil:
			m.HostWhy = "the host was not looked at (--no-host)"
			if note := s.Notes[i]; note.OnHost && note.Under != "" {
				m.Leads = oneFileSystem(note.Under).Identity()
			}
			continue
		}
		switch note := &s.Notes[i]; {
		case note.Under != "":
			j.resolveUnder(ctx, m, note)
			continue
		case note.Below != "":
			j.resolveBelow(ctx, m, note)
			continue
		}
		found, err := j.host.Lookup(ctx, m.Source)
		if err != nil && s.Notes[i].Kind == facts.VolumeHostPath { // the runtime makes it, and then asks
			if made, ok := j.nearest(ctx, path.Clean(m.Source), err); ok {
				found, err = made, nil
			}
		}
		if err != nil {
			m.HostWhy = why(err)
			continue
		}
		m.Host = &found
		if s.Spec == nil && s.Container.ID == "" {
			j.link(ctx, m)
		}
	}
}

// link does what containerd does with a source whose last component is a symbolic
// link, before a plugin is asked: it takes where the link leads. Other links in a
// path stay. Source: containerd 2.4.2 pkg/os.
func (j judge) link(ctx context.Context, m *facts.Mount) {
	clean := path.Clean(m.Source)
	if clean == m.Host.Canonical {
		return
	}
	parent, err := j.host.Lookup(ctx, path.Dir(clean))
	if err == nil && path.Join(parent.Canonical, path.Base(clean)) != m.Host.Canonical {
		m.Source = m.Host.Canonical
	}
}

// request is what the daemon would ask for, in a node that enforces.
func (j judge) request(ctx context.Context, static bool) apply.Request {
	r := apply.Request{
		Enforce: true, NeverRefuse: static,
		Raise: policy.OnUnmet(j.settings.Guard.OnUnmetRaise), Lower: policy.OnUnmet(j.settings.Guard.OnUnmetLower),
		Namespace: j.settings.Apply.Namespace,
	}
	if j.host != nil {
		r.Table = apply.RuntimeTable(ctx, j.host)
	} else {
		r.Table = func() (apply.MountTable, error) { return assumed{facts.MountState{Peer: 1}}, nil }
	}
	return r
}

// assumed is the table of a host on which every path is on one mount.
type assumed struct{ state facts.MountState }

func (a assumed) First(point string) (hostview.Entry, bool) {
	return hostview.Entry{MountPoint: point, State: a.state}, strings.HasPrefix(point, "/")
}

func (a assumed) Recheck(e hostview.Entry) (hostview.Entry, error) { return e, nil }
