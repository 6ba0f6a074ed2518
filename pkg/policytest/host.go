package policytest

import (
	"errors"
	"path"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
)

// Host is the node of a test: what the host view would know of it.
type Host struct {
	policy.Vars
	Mounts     []facts.HostMount // its mount table, in order; the last at a path is the one seen
	Links      map[string]string // symbolic links: where each is, and what it says
	Unresolved []string          // nothing at and below these can be resolved
}

// DefaultHost is a node as kubeadm leaves it.
func DefaultHost() Host {
	return Host{
		Vars:   policy.Vars{KubeletRoot: "/var/lib/kubelet", RuntimeState: "/run/containerd", RuntimeRoot: "/var/lib/containerd"},
		Mounts: []facts.HostMount{rootMount()},
	}
}

func rootMount() facts.HostMount {
	return facts.HostMount{
		MountPoint: "/", MountID: 1, Device: facts.DeviceNumber{Major: 8, Minor: 1}, Root: "/",
		FSType: "ext4", Source: "/dev/sda1", State: facts.MountState{Peer: 1},
	}
}

// maxLinks is how many symbolic links the kernel follows in one path.
const maxLinks = 40

// Errors of Lookup, in the words of the kernel.
var (
	errRelative   = errors.New("the source is no absolute path")
	errLoop       = errors.New("too many levels of symbolic links")
	errUnresolved = errors.New("the test says that it cannot be resolved")
)

// Lookup resolves a path as the kernel would, step by step: ".." leads to the
// parent of what a link led to.
func (h Host) Lookup(p string) (facts.HostMount, error) {
	if !path.IsAbs(p) {
		return facts.HostMount{}, errRelative
	}
	at, rest, links := "/", p, 0
	for rest != "" {
		var step string
		step, rest, _ = strings.Cut(rest, "/")
		if step == "" || step == "." {
			continue
		}
		at = path.Join(at, step) // ".." of "/" is "/"
		to, ok := h.Links[at]
		if !ok {
			continue
		}
		if links++; links > maxLinks {
			return facts.HostMount{}, errLoop
		}
		if at = path.Dir(at); path.IsAbs(to) {
			at = "/"
		}
		rest = to + "/" + rest
	}
	for _, u := range h.Unresolved {
		if facts.Within(at, u) {
			return facts.HostMount{}, errUnresolved
		}
	}
	return h.covering(at), nil
}

// covering returns the mount that is seen at a path without links.
func (h Host) covering(p string) facts.HostMount {
	var found facts.HostMount
	for _, m := range h.Mounts {
		if facts.Within(p, m.MountPoint) && len(m.MountPoint) >= len(found.MountPoint) {
			found = m
		}
	}
	found.Canonical = p
	return found
}

// env is what a decision knows of the node.
func (h Host) env(p *policy.Policy) policy.Env {
	env := policy.Env{Vars: h.Vars, Prefixes: map[string]facts.HostMount{}}
	for _, prefix := range p.Prefixes(h.Vars) {
		if m, err := h.Lookup(prefix); err == nil {
			env.Prefixes[prefix] = m
		}
	}
	return env
}

// resolve fills in what the host view knows of the sources, and which volumes
// they show.
func (h Host) resolve(c facts.Container) []facts.Mount {
	resolved := make([]facts.Mount, len(c.Mounts))
	for i, m := range c.Mounts {
		if m.Bind() {
			if found, err := h.Lookup(m.Source); err != nil {
				m.HostWhy = err.Error()
			} else {
				m.Host = &found
			}
		}
		shown, _ := facts.VolumeOf(&c, &m, h.KubeletRoot)
		m.Volume = told(shown, m.Volume)
		resolved[i] = m
	}
	return resolved
}
