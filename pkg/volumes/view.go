package volumes

import (
	"fmt"
	"path"
	"slices"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// maxViews bounds the other places that are listed of one volume.
const maxViews = 16

// HasViews reports whether SetViews has anything to find out.
func (t *Task) HasViews() bool {
	for i := range t.Mounts {
		if t.Mounts[i].viewed() {
			return true
		}
	}
	return false
}

// SetViews fills in where else the host has the volumes of the task mounted,
// from the host's whole table; without a table, with the reason (err) that it
// cannot be told. It is apart from Map since that table is stale after every
// mount, and reading it can take longer than a container's start may.
func (t *Task) SetViews(table *hostview.Table, err error, kubeletRoot string) {
	for i := range t.Mounts {
		m := &t.Mounts[i]
		if !m.viewed() {
			continue
		}
		if table == nil || err != nil {
			m.Views, m.ViewsWhy = nil, cannotTell+"the host's mount table was not read"
			if err != nil {
				m.ViewsWhy += ": " + because(err)
			}
			continue
		}
		places, more := m.places(table, kubeletRoot, maxViews)
		m.Views, m.ViewsWhy = views(places, kubeletRoot), ""
		if more {
			m.ViewsWhy = fmt.Sprintf("more than %d places", maxViews)
		}
	}
}

// viewed reports a volume that is a file system of its own, or a part of one
// that belongs to the volume. A host path is one only where it is a mount and
// not the node's root: of the hundreds of binds of that nobody wants to read.
func (m *Mount) viewed() bool {
	if m.superblock().IsZero() || m.FSType == "" {
		return false
	}
	switch m.Kind {
	case string(facts.KindEmptyDir), string(facts.KindProjected), string(facts.KindSecret), string(facts.KindConfigMap),
		string(facts.KindDownwardAPI), KindRuntime, KindKubelet, KindImage, KindSubPath:
		return false
	case KindHostPath:
		return m.MountPoint != "/" && m.MountPoint != "" && m.MountPoint == path.Clean(m.Source)
	}
	return true
}

// superblock is that of the mount, also where Device is of what is below.
func (m *Mount) superblock() facts.DeviceNumber {
	if !m.Superblock.IsZero() {
		return m.Superblock
	}
	return m.Device
}

// places returns the visible mounts of the host that show the volume or a part
// of it, but for the one that the mount was made from: at most so many, and
// whether there are more.
func (m *Mount) places(table *hostview.Table, kubeletRoot string, most int) (found []hostview.Entry, more bool) {
	what := facts.Identity{Device: m.superblock(), Root: m.volumeRoot(table, kubeletRoot)}
	found, more = table.Showing(what, most+1)
	found = slices.DeleteFunc(found, func(e hostview.Entry) bool { return e.MountPoint == m.MountPoint })
	if len(found) > most {
		return found[:most], true
	}
	return found, more
}

// volumeRoot is the root of the whole volume in its superblock: that of a mount
// of a sub-path, or of a directory in the volume, is below it.
func (m *Mount) volumeRoot(table *hostview.Table, kubeletRoot string) string {
	k, ok := facts.ParseKubeletPath(m.MountPoint, kubeletRoot)
	if !ok {
		k, ok = facts.ParseKubeletPath(m.Source, kubeletRoot)
	}
	if !ok {
		return m.Root
	}
	target := facts.KubeletPath{
		Root: k.Root, Role: facts.PathTarget, PodUID: k.PodUID, Volume: m.Volume,
		Plugin: "kubernetes.io~" + m.Kind, Kind: facts.VolumeKind(m.Kind),
	}
	if k.Role == facts.PathTarget {
		target.Plugin, target.Kind = k.Plugin, k.Kind
	}
	if e, ok := table.At(target.Path()); ok && e.Device == m.superblock() && facts.Within(m.Root, e.Root) {
		return e.Root
	}
	return m.Root
}

func views(places []hostview.Entry, kubeletRoot string) (all []View) {
	for _, e := range places {
		role, uid := roleOf(e.MountPoint, kubeletRoot)
		all = append(all, View{Path: e.MountPoint, Role: role, PodUID: uid, Root: e.Root, State: e.State})
	}
	return all
}

// roleOf tells what a place is for by its path.
func roleOf(mountPoint, kubeletRoot string) (role, podUID string) {
	k, ok := facts.ParseKubeletPath(mountPoint, kubeletRoot)
	if !ok || k.Rest != "" {
		return ViewTwin, k.PodUID
	}
	switch k.Role {
	case facts.PathStaging:
		return ViewStaging, ""
	case facts.PathTarget:
		return ViewTarget, k.PodUID
	case facts.PathSubpath:
		return ViewSubPath, k.PodUID
	}
	return ViewTwin, k.PodUID
}
