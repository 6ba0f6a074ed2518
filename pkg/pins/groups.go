package pins

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/namespaces"
)

// maxMounts bounds the mounts and files that are listed of one holder, and
// maxProcesses the processes.
const (
	maxMounts    = 64
	maxProcesses = 16
)

// groups gathers the mounts of one namespace into holders: one for each target
// and use, and for copies one for each kind of propagation.
type groups struct {
	*search
	namespace *namespaces.Namespace
	holders   map[group]*Holder
}

type group struct {
	target      int
	use         string
	propagation string
	follows     bool
	kind        Kind
	pod         string
}

// The states of a mount in words.
const (
	privateCopy = "private copy"
	ownGroup    = "shared in a group of its own"
	withHost    = "shared with the host"
)

// gather makes holders of the mounts that were seen, in the order of the
// namespaces.
func (s *search) gather() {
	in := map[*namespaces.Namespace]*groups{}
	var order []*groups
	for i := range s.sightings {
		x := &s.sightings[i]
		g := in[x.namespace]
		if g == nil {
			g = &groups{search: s, namespace: x.namespace, holders: map[group]*Holder{}}
			in[x.namespace], order = g, append(order, g)
		}
		g.add(x)
	}
	s.sightings = nil
	for _, g := range order {
		g.finish()
	}
}

func (g *groups) add(x *sighting) {
	m, use := x.mount, g.use(x.entry)
	host, peer, follows := g.follows(x)
	if follows {
		m.HostMount, m.HostPath, m.peer = host.ID, host.MountPoint, peer
	}
	key := group{target: x.target, use: use, kind: KindMount}
	if x.entry.FSType == "nsfs" {
		key.kind = KindNamespaceFile
	}
	switch use {
	case UseCopy:
		key.propagation, key.follows = m.Propagation, follows
	case UseLeftover, UseUnclear:
		key.pod = m.PodUID
	}
	h := g.holders[key]
	if h == nil {
		h = g.holder(g.namespace, key.kind)
		h.Use, h.User = use, use == UseOwn
		g.holders[key] = h
	}
	g.mounts.byID[m.ID] = foundMount{entry: x.entry, there: true, own: use == UseOwn, slave: follows}
	if len(h.Mounts) >= maxMounts {
		h.MountsOmitted++
		return
	}
	h.Mounts = append(h.Mounts, m)
}

// finish adds the holders to the reports, in the order of their first mounts.
func (g *groups) finish() {
	var keys []group
	for key := range g.holders {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b group) int {
		return cmp.Or(cmp.Compare(a.target, b.target), cmp.Compare(g.holders[a].Mounts[0].ID, g.holders[b].Mounts[0].ID))
	})
	for _, key := range keys {
		h := g.holders[key]
		for _, m := range h.Mounts[:min(len(h.Mounts), 3)] {
			h.Evidence = append(h.Evidence, Evidence{Text: m.Line, Show: g.showMount(h, m)})
		}
		g.explain(h)
		if h.Use == UseUnclear {
			g.unknown(key.target, "pod "+key.pod, "whether it is there: "+g.podGone(key.pod).Why)
		}
		g.search.add(key.target, *h)
	}
}

// use tells what a mount is for.
func (g *groups) use(e hostview.Entry) string {
	if !g.isHome(g.namespace) {
		if g.own(e) {
			return UseOwn
		}
		return UseCopy
	}
	if g.rootfs(e) {
		return UseOwn
	}
	k, ok := facts.ParseKubeletPath(e.MountPoint, g.KubeletRoot)
	switch {
	case !ok || k.PodUID == "":
		return UseHost
	case g.podGone(k.PodUID).Truth == facts.Yes:
		return UseLeftover
	case g.pods[k.PodUID]:
		return UseOwn
	default:
		return UseUnclear
	}
}

// own reports a mount of a container that it is made of: its own root
// filesystem, or one at a place for which it asked for a volume of its own pod.
func (g *groups) own(e hostview.Entry) bool {
	for _, pid := range g.namespace.PIDs {
		task := g.byPID[pid].Owner.Task
		if task == nil {
			continue
		}
		if e.MountPoint == "/" {
			return true
		}
		for _, m := range task.Spec.Mounts {
			k, ok := facts.ParseKubeletPath(m.Source, g.KubeletRoot)
			if ok && k.PodUID != "" && k.PodUID == task.Container.Pod.UID && m.CleanDestination() == e.MountPoint {
				return true
			}
		}
		return false // the others are of the same container, or of its pod
	}
	return false
}

// rootfs reports the root filesystem of a container that runs, where the runtime
// has it mounted.
func (g *groups) rootfs(e hostview.Entry) bool {
	return slices.ContainsFunc(g.Tasks, func(t namespaces.Task) bool {
		_, runs := g.byPID[t.PID]
		return t.PID != 0 && runs && t.Bundle.Rootfs() == e.MountPoint
	})
}

func (g *groups) showMount(h *Holder, m Mount) string {
	return fmt.Sprintf("grep -n '^%d ' %s", m.ID, mountinfoOf(h))
}
