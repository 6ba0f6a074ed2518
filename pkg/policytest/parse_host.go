package policytest

import (
	"maps"
	"path"
	"slices"

	"github.com/mountward/mountward/pkg/facts"
)

// host reads a host; what it does not say is as on the other.
func (p *parser) host(at []any, raw *rawHost, h Host) Host {
	key := func(steps ...any) []any { return append(slices.Clip(at), steps...) }
	for _, v := range []struct {
		name string
		raw  *string
		to   *string
	}{
		{"kubelet_root", raw.KubeletRoot, &h.KubeletRoot},
		{"runtime_state", raw.RuntimeState, &h.RuntimeState},
		{"runtime_root", raw.RuntimeRoot, &h.RuntimeRoot},
	} {
		if v.raw == nil {
			continue
		}
		if *v.raw != "" {
			p.clean(key(v.name), v.name, *v.raw)
		}
		*v.to = *v.raw
	}
	if raw.Links != nil {
		for _, from := range slices.Sorted(maps.Keys(raw.Links)) {
			p.clean(key("links", from), "links", from)
			if raw.Links[from] == "" || from == "/" {
				p.fail(key("links", from), "%q is no link", from)
			}
		}
		h.Links = raw.Links
	}
	if raw.Unresolved != nil {
		for i, at := range raw.Unresolved {
			p.clean(key("unresolved", i), "unresolved", at)
		}
		h.Unresolved = raw.Unresolved
	}
	if raw.Mounts != nil {
		h.Mounts = nil
		if !slices.ContainsFunc(raw.Mounts, func(m rawHostMount) bool { return m.At == "/" }) {
			h.Mounts = append(h.Mounts, rootMount())
		}
		for i := range raw.Mounts {
			h.Mounts = append(h.Mounts, p.hostMount(key("mount", i), i, &raw.Mounts[i]))
		}
	}
	return h
}

func (p *parser) clean(at []any, key, text string) {
	if clean, ok := facts.CleanAbs(text); !ok || clean != text {
		p.fail(at, "%q: want a clean absolute path, not %q", key, text)
	}
}

func (p *parser) hostMount(at []any, i int, raw *rawHostMount) facts.HostMount {
	key := func(name string) []any { return append(slices.Clip(at), name) }
	// Numbers that no other mount of the file has.
	m := facts.HostMount{
		MountPoint: raw.At, MountID: uint64(i + 2), Device: facts.DeviceNumber{Minor: uint32(i + 100)},
		Root: "/", FSType: "ext4", Source: raw.Source, State: facts.MountState{Peer: i + 2},
	}
	p.clean(key("at"), "at", raw.At)
	if p.document.Has(key("device")...) {
		if err := m.Device.UnmarshalText([]byte(raw.Device)); err != nil {
			p.fail(key("device"), "%v", err)
		}
	}
	if p.document.Has(key("root")...) {
		if !path.IsAbs(raw.Root) {
			p.fail(key("root"), "%q: want an absolute path, not %q", "root", raw.Root)
		}
		m.Root = raw.Root
	}
	if raw.FSType != "" {
		m.FSType = raw.FSType
	}
	if p.document.Has(key("propagation")...) {
		m.State = p.state(key("propagation"), raw.Propagation, i)
	}
	return m
}

// state reads a propagation as findmnt prints it.
func (p *parser) state(at []any, word string, i int) facts.MountState {
	peer, master := i+2, 1<<20+i
	switch word {
	case "shared":
		return facts.MountState{Peer: peer}
	case "shared,slave":
		return facts.MountState{Peer: peer, Master: master}
	case "slave", "private,slave":
		return facts.MountState{Master: master}
	case "unbindable":
		return facts.MountState{Unbindable: true}
	case "private":
	default:
		p.fail(at, `"propagation" of a host's mount is what findmnt prints: "shared", "private", "slave", "shared,slave" or "unbindable", not %q`, word)
	}
	return facts.MountState{}
}
