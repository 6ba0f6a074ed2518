package pins

import (
	"cmp"
	"fmt"
	"path"
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
	table     *hostview.Table
	holders   map[group]*Holder
}

type group struct {
	target      int
	use         string
	propagation string
	kind        Kind
	pod         string
}

func (g *groups) add(target int, e hostview.Entry) {
	m := g.mount(e)
	use := g.use(e)
	key := group{target: target, use: use, kind: KindMount}
	if e.FSType == "nsfs" {
		key.kind = KindNamespaceFile
	}
	switch use {
	case UseCopy:
		key.propagation = m.Propagation
	case UseLeftover:
		key.pod = m.PodUID
	}
	if g.holders == nil {
		g.holders = map[group]*Holder{}
	}
	h := g.holders[key]
	if h == nil {
		h = g.holder(g.namespace, key.kind)
		h.Use, h.User = use, use == UseOwn
		g.holders[key] = h
	}
	g.mounts.byID[e.ID] = foundMount{entry: e, there: true, own: use == UseOwn, slave: follows(m, use)}
	if len(h.Mounts) >= maxMounts {
		h.MountsOmitted++
		return
	}
	h.Mounts = append(h.Mounts, m)
}

// follows reports a mount that goes when the host unmounts.
func follows(m Mount, use string) bool {
	return use != UseHost && use != UseLeftover && (m.State.Master != 0 || m.State.Peer != 0) && m.Propagation != privateCopy && m.Propagation != ownGroup
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
		g.search.add(key.target, *h)
	}
}

// The states of a mount in words.
const (
	privateCopy = "private copy"
	ownGroup    = "shared in a group of its own"
)

func (g *groups) mount(e hostview.Entry) Mount {
	m := Mount{
		ID: e.ID, Device: e.Device, Root: e.Root, MountPoint: e.MountPoint, State: e.State,
		Line: e.Line(), HostPath: g.hostPath(e),
	}
	if k, ok := facts.ParseKubeletPath(cmp.Or(m.HostPath, e.MountPoint), g.KubeletRoot); ok {
		m.PodUID = k.PodUID
		m.PodGone = k.PodUID != "" && g.podGone(k.PodUID).Truth == facts.Yes
	}
	home := g.isHome(g.namespace)
	switch s := e.State; {
	case home && s.Peer != 0:
		m.Propagation = "shared"
	case home && s.Master != 0:
		m.Propagation = "slave"
	case home:
		m.Propagation = "private"
	case s.Peer != 0 && g.mounts.peers[s.Peer]:
		m.Propagation = "shared with the host"
	case s.Master != 0 && g.mounts.peers[s.Master]:
		m.Propagation = "slave copy of the host's group"
	case s.Master != 0:
		m.Propagation = "slave copy of a group that the host does not have"
	case s.Peer != 0:
		m.Propagation = ownGroup
	default:
		m.Propagation = privateCopy
	}
	return m
}

// hostPath is the path of the host's directory that a mount lies on: the host
// need not have anything mounted there.
func (g *groups) hostPath(e hostview.Entry) string {
	if g.isHome(g.namespace) {
		return e.MountPoint
	}
	parent, ok := g.table.ByID(e.Parent)
	if !ok || g.home == nil {
		return ""
	}
	rest, ok := facts.Below(e.MountPoint, parent.MountPoint)
	if !ok {
		return ""
	}
	at := facts.JoinRoot(parent.Root, rest)
	for _, h := range g.home.ByDevice(parent.Device) {
		below, ok := facts.Below(at, h.Root)
		if !ok {
			continue
		}
		where := path.Join(h.MountPoint, below)
		if c, ok := g.home.Covering(path.Dir(where)); ok && (c.ID == h.ID || where == h.MountPoint) {
			return where
		}
	}
	return ""
}

// use tells what a mount is for.
func (g *groups) use(e hostview.Entry) string {
	if !g.isHome(g.namespace) {
		if g.ownVolume(e) {
			return UseOwn
		}
		return UseCopy
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
		return UseHost
	}
}

// ownVolume reports a mount at a place of a container for which the container
// asked for one of its own pod's volumes.
func (g *groups) ownVolume(e hostview.Entry) bool {
	for _, pid := range g.namespace.PIDs {
		task := g.byPID[pid].Owner.Task
		if task == nil {
			continue
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

func (g *groups) showMount(h *Holder, m Mount) string {
	return fmt.Sprintf("grep -n '^%d ' %s", m.ID, mountinfoOf(h))
}
