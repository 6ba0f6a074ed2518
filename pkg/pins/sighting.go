package pins

import (
	"cmp"
	"path"
	"slices"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/namespaces"
)

// sighting is one mount of a target in one mount namespace, and what its table
// says of the place: the tables are not kept, and why a mount holds is only known
// when all of them were read.
type sighting struct {
	target    int
	namespace *namespaces.Namespace
	entry     hostview.Entry
	mount     Mount
	on        place // where it is mounted; zero where the table does not tell
	master    int   // of the mount that it is mounted on
	loaded    bool  // something is mounted in it
}

// see notes a mount of a target.
func (s *search) see(n *namespaces.Namespace, table *hostview.Table, target int, e hostview.Entry) {
	x := sighting{target: target, namespace: n, entry: e, mount: s.mountOf(n, table, e)}
	if parent, ok := table.ByID(e.Parent); ok {
		x.master = parent.State.Master
		x.on.group = parent.State.Peer
		x.on.at, _ = directory(parent, e)
	}
	if !s.isHome(n) && (x.on.group != 0 || x.master != 0) {
		x.loaded = slices.ContainsFunc(table.Below(e.MountPoint), func(below hostview.Entry) bool { return below.Parent == e.ID })
	}
	s.sightings = append(s.sightings, x)
}

// directory is what a mount is mounted on: a directory of its parent's file
// system.
func directory(parent, e hostview.Entry) (facts.Identity, bool) {
	rest, ok := facts.Below(e.MountPoint, parent.MountPoint)
	if !ok {
		return facts.Identity{}, false
	}
	return facts.Identity{Device: parent.Device, Root: facts.JoinRoot(parent.Root, rest)}, true
}

func (s *search) mountOf(n *namespaces.Namespace, table *hostview.Table, e hostview.Entry) Mount {
	m := Mount{
		ID: e.ID, Device: e.Device, Root: e.Root, MountPoint: e.MountPoint, State: e.State,
		Line: e.Line(), HostPath: s.hostPath(n, table, e),
	}
	m.Covered, m.over = covered(table, e)
	if k, ok := facts.ParseKubeletPath(cmp.Or(m.HostPath, e.MountPoint), s.KubeletRoot); ok {
		m.PodUID = k.PodUID
		m.PodGone = k.PodUID != "" && s.podGone(k.PodUID).Truth == facts.Yes
	}
	home := s.isHome(n)
	switch st := e.State; {
	case home && st.Peer != 0:
		m.Propagation = "shared"
	case home && st.Master != 0:
		m.Propagation = "slave"
	case home:
		m.Propagation = "private"
	case st.Peer != 0 && s.mounts.peers[st.Peer]:
		m.Propagation = withHost
	case st.Master != 0 && s.mounts.peers[st.Master]:
		m.Propagation = "slave copy of the host's group"
	case st.Master != 0:
		m.Propagation = "slave copy of a group that the host does not have"
	case st.Peer != 0:
		m.Propagation = ownGroup
	default:
		m.Propagation = privateCopy
	}
	return m
}

// covered tells what a mount is hidden by: the path of its mount point leads
// there instead, and so does an unmount by that path. over are the mounts that
// lie on it one upon the other; none where what it lies below is hidden itself.
func covered(table *hostview.Table, e hostview.Entry) (by string, over []int) {
	top, ok := table.Covering(e.MountPoint)
	if !ok {
		return "something", nil
	}
	if top.ID == e.ID {
		return "", nil
	}
	for at := top; at.MountPoint == e.MountPoint; {
		over = append(over, at.ID)
		if at.Parent == e.ID {
			return top.Line(), over
		}
		if at, ok = table.ByID(at.Parent); !ok {
			break
		}
	}
	return top.Line(), nil
}

// hostPath is the path of the host's directory that a mount lies on: the host
// need not have anything mounted there.
func (s *search) hostPath(n *namespaces.Namespace, table *hostview.Table, e hostview.Entry) string {
	if s.isHome(n) {
		return e.MountPoint
	}
	parent, ok := table.ByID(e.Parent)
	if !ok || s.home == nil {
		return ""
	}
	at, ok := directory(parent, e)
	if !ok {
		return ""
	}
	for _, h := range s.home.ByDevice(parent.Device) {
		below, ok := facts.Below(at.Root, h.Root)
		if !ok {
			continue
		}
		where := path.Join(h.MountPoint, below)
		if c, ok := s.home.Covering(path.Dir(where)); ok && (c.ID == h.ID || where == h.MountPoint) {
			return where
		}
	}
	return ""
}
