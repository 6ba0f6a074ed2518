package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/manifest"
	"github.com/mountward/mountward/pkg/policy"
)

// oneFileSystem is a path of a host that is not looked at, on which all is taken to
// be of one file system without links.
func oneFileSystem(p string) facts.HostMount {
	return facts.HostMount{Canonical: p, MountPoint: "/", Root: "/"}
}

// resolveUnder tells what the kubelet's bind mount of a sub-path will lead to: the
// superblock is that of the volume, and so is the peer group; below a shared mount
// it is shared whatever the volume is.
func (j judge) resolveUnder(ctx context.Context, m *facts.Mount, n *manifest.Note) {
	under := n.Under
	found, err := j.host.Lookup(ctx, under)
	if err != nil {
		m.HostWhy = "the kubelet will bind it from " + under + ": " + why(err)
		if found, ok := j.nearest(ctx, under, err); ok {
			n.Under, m.Leads = found.Canonical, found.Identity()
		}
		return
	}
	id := found.Identity()
	if id.IsZero() {
		m.HostWhy = "the kubelet will bind it from " + under + ", of which the superblock is not known"
		return
	}
	if !found.State.Shared() {
		if root, err := j.host.Lookup(ctx, j.env.KubeletRoot); err == nil && root.State.Shared() {
			found.State = root.State
		}
	}
	found.Canonical, found.MountPoint, found.Root = path.Clean(m.Source), path.Clean(m.Source), id.Root
	m.Host = &found
}

// nearest is what a path that is not there yet will be once it is made: the
// directory above it, and on. ok is false where err says otherwise than that it is
// not there.
func (j judge) nearest(ctx context.Context, p string, err error) (found facts.HostMount, ok bool) {
	for above := p; errors.Is(err, fs.ErrNotExist) && above != "/"; {
		above = path.Dir(above)
		if found, err = j.host.Lookup(ctx, above); err != nil {
			continue
		}
		rest, _ := facts.Below(p, above) // it is above it
		found.Canonical = path.Join(found.Canonical, rest)
		return found, true
	}
	return facts.HostMount{}, false
}

// resolveBelow does what can be done of a sub-path of which only a directory above
// it is known.
func (j judge) resolveBelow(ctx context.Context, m *facts.Mount, n *manifest.Note) {
	m.HostWhy = n.Unknown
	if found, err := j.host.Lookup(ctx, n.Below); err == nil {
		n.Below = found.Canonical
	} else if found, ok := j.nearest(ctx, n.Below, err); ok {
		n.Below = found.Canonical
	}
}

// unresolved lists the rules that a sub-path or a hostPath could fall under by what
// it leads to, and it is not known what that is.
func (j judge) unresolved(note manifest.Note, m facts.Mount, d policy.Decision) (all []string) {
	if !note.OnHost && note.Kind != facts.VolumeHostPath || m.Host != nil || note.Below == "" && j.host == nil {
		return nil
	}
	reason := m.HostWhy
	if note.Below != "" {
		reason = note.Unknown
	}
	for i, step := range d.Trace {
		if !decides(step) {
			continue
		}
		written := j.policy.Rules[i].Written()
		keys, could := written.Match, step.Matched == facts.No && step.Selector == keySource
		if step.Matched == facts.Yes {
			keys, could = written.Except, true
		}
		if could && j.reached(note, m, keys) && (step.Action != d.Action || step.Rule == d.Rule || step.Action == facts.ActionSet) {
			all = append(all, fmt.Sprintf("rule %q could be about it by its source: %s", step.Rule, reason))
		}
	}
	return all
}

const keySource = "source"

// unseen says that a hostPath of a host that is not looked at may be a link, where a
// rule asks what it leads to.
func (j judge) unseen(s manifest.Subject) []facts.Unread {
	if j.host != nil || !slices.ContainsFunc(j.policy.Rules, func(r policy.Rule) bool { return r.Asks(keySource) }) ||
		!slices.ContainsFunc(s.Notes, func(n manifest.Note) bool { return n.Kind == facts.VolumeHostPath }) {
		return nil
	}
	return []facts.Unread{{What: "where symbolic links lead", Why: "the host was not looked at; a hostPath is decided as it is written"}}
}

// reached reports that a source glob of the keys could be about such a path. Where
// it is known what both lead to, that was compared.
func (j judge) reached(note manifest.Note, m facts.Mount, keys []policy.Key) bool {
	could := func(glob string) bool {
		prefix, rest, missing, err := j.env.Split(glob)
		if err != nil || missing != "" {
			return true
		}
		if _, known := j.env.Prefixes[prefix]; known && !m.Leads.IsZero() {
			return false
		}
		return note.Reaches(prefix, func(below string) bool { return policy.MatchBelow(rest, below) })
	}
	return slices.ContainsFunc(keys, func(k policy.Key) bool { return k.Name == keySource && slices.ContainsFunc(k.Values, could) })
}
