package pins

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/internal/linux"
	"github.com/mountward/mountward/pkg/internal/wait"
	"github.com/mountward/mountward/pkg/namespaces"
	"github.com/mountward/mountward/pkg/overlay"
)

// overlaid is a superblock that holds others without a mount of theirs: an
// overlay its layers, an erofs without a device the file that it is made from.
type overlaid struct {
	entry     hostview.Entry
	namespace *namespaces.Namespace
	home      bool
	layers    []layer
}

type layer struct {
	path    string
	covered hostview.Entry // the mount that the path is on by the namespace's table
	ok      bool
}

// maxLayers bounds the layers that are looked at of one overlay; the kernel has
// 500 at most.
const maxLayers = 512

// layer notes an overlay of a table: the host's mount of it, if there is one,
// since its layers are named as who mounted it saw them.
func (s *search) layer(n *namespaces.Namespace, table *hostview.Table, e hostview.Entry) {
	image := e.FSType == "erofs" && e.Device.Major == 0
	if e.FSType != "overlay" && !image {
		return
	}
	if _, known := s.mounts.layered[e.Device]; known {
		return
	}
	o := overlaid{entry: e, namespace: n, home: s.isHome(n)}
	paths := []string{e.Source}
	if !image {
		paths = layerPaths(overlay.Parse(e.SuperOptions))
	}
	for _, p := range paths[:min(len(paths), maxLayers)] {
		l := layer{path: p}
		if path.IsAbs(p) {
			l.covered, l.ok = table.Covering(path.Clean(p))
		}
		o.layers = append(o.layers, l)
	}
	s.mounts.layered[e.Device] = o
}

// layerPaths returns the directories of an overlay, the upper one first. One
// that is relative to a directory that is not known is returned as it is.
func layerPaths(l overlay.Layers) (all []string) {
	if l.Upper != "" {
		all = append(all, l.Upper)
	}
	for _, lower := range l.Lower {
		if at, ok := l.Rebase(lower); ok {
			lower = at
		}
		if lower != "" {
			all = append(all, lower)
		}
	}
	return all
}

// layers finds the overlays that have a layer on a target. Their mounts show
// nothing of that: only their options name the layers, as paths. A path is
// looked up where the overlay was mounted. One that leads nowhere, since what it was on
// is not mounted there any more, is what cannot be told, unless the overlay's
// own handle names the file system.
func (s *search) layers() {
	var all []overlaid
	for _, o := range s.mounts.layered {
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b overlaid) int { return a.entry.ID - b.entry.ID })
	asked := map[string]lookup{}
	for _, o := range all {
		s.overlay(o, asked)
	}
	s.searched("the layers of %s", plural(len(all), "overlay"))
}

type lookup struct {
	at  facts.HostMount
	err error
}

func (s *search) overlay(o overlaid, asked map[string]lookup) {
	if o.entry.FSType == "overlay" && len(o.layers) == 0 {
		s.unknownToAll(o.name(), "its layers are not told: its line in the mount table is too long, or has none")
		return
	}
	held := map[int][]string{} // by target: the layers on it
	var unresolved []string
	for _, l := range o.layers {
		at, ok := s.layerAt(o, l, asked)
		if !ok {
			unresolved = append(unresolved, l.path)
			continue
		}
		for _, t := range s.want.inside(at) {
			held[t] = append(held[t], l.path)
		}
	}
	evidence := "its options name a directory of it"
	if len(unresolved) > 0 {
		if uuid, ok := s.upperUUID(o); ok {
			for _, t := range s.withUUID(uuid) {
				if len(held[t]) == 0 {
					held[t] = unresolved[:1]
					evidence = "the handle of its root names the file system " + uuid
				}
			}
		}
	}
	for i := range s.reports {
		if paths := held[i]; len(paths) > 0 {
			s.add(i, s.layerHolder(o, paths, evidence))
		} else if len(unresolved) > 0 {
			s.reports[i].Suspects = append(s.reports[i].Suspects, fmt.Sprintf(
				"%s: its layer %s leads nowhere now, so it cannot be told which file system that is on", o.name(), unresolved[0]))
		}
	}
}

func (o overlaid) name() string {
	return fmt.Sprintf("%s %s at %s of mnt:[%d]", o.entry.FSType, o.entry.Device, o.entry.MountPoint, o.namespace.Inode)
}

// layerAt finds what a layer's path leads to: on the host for what the host has
// mounted, else by the table of the namespace that has it. That of a container
// can have the overlay for its root, whose layers are the host's.
func (s *search) layerAt(o overlaid, l layer, asked map[string]lookup) (facts.Identity, bool) {
	if !path.IsAbs(l.path) {
		return facts.Identity{}, false
	}
	if !o.home && l.ok && l.covered.FSType != "overlay" {
		below, ok := facts.Below(path.Clean(l.path), l.covered.MountPoint)
		at := facts.Identity{Device: l.covered.Device, Root: facts.JoinRoot(l.covered.Root, below)}
		// What it was on can have been unmounted there since: then the table
		// names what was below, where the layer is not.
		return at, ok && (len(s.want.inside(at)) > 0 || s.thereIn(o.namespace, l.path))
	}
	a, ok := asked[l.path]
	if !ok {
		a.at, a.err = s.Host.Lookup(s.ctx, l.path)
		asked[l.path] = a
	}
	return a.at.Identity(), a.err == nil
}

// thereIn reports whether a path leads to something in a namespace, by a process
// that is in it.
func (s *search) thereIn(n *namespaces.Namespace, p string) bool {
	if len(n.PIDs) == 0 {
		return false
	}
	_, err := wait.For(s.ctx, patience, func() (struct{}, error) {
		root, err := linux.OpenMagic(fmt.Sprintf("%s/%d/root", s.Proc, n.PIDs[0]))
		if err != nil {
			return struct{}{}, err
		}
		defer root.Close()
		f, err := linux.OpenPath(root, strings.TrimPrefix(path.Clean(p), "/"), linux.InRoot|linux.NoMagicLinks)
		if err != nil {
			return struct{}{}, err
		}
		return struct{}{}, f.Close()
	}, nil)
	return err == nil
}

// upperUUID is the id of the file system that an overlay's upper directory is
// on, by the handle of the overlay's root, for one that the host has mounted.
func (s *search) upperUUID(o overlaid) (string, bool) {
	if !o.home || o.entry.FSType != "overlay" {
		return "", false
	}
	h, err := s.Host.Handle(s.ctx, o.entry.MountPoint)
	if err != nil {
		return "", false
	}
	upper, err := h.Real()
	if err != nil || upper.UUID == ([16]byte{}) {
		return "", false
	}
	u := upper.UUID
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:]), true
}

// withUUID returns the targets that have a file system with the id: by the
// links of udev, and of btrfs by sysfs.
func (s *search) withUUID(uuid string) (found []int) {
	number, err := s.Host.BlockNumber(s.ctx, "/dev/disk/by-uuid/"+uuid)
	for i := range s.reports {
		for _, sb := range s.reports[i].Target.Superblocks {
			if sb.BtrfsID == uuid || err == nil && sb.Device == number && sb.Whole() {
				found = append(found, i)
				break
			}
		}
	}
	return found
}

func (s *search) layerHolder(o overlaid, paths []string, evidence string) Holder {
	kind := KindOverlay
	if o.entry.FSType == "erofs" {
		kind = KindImage
	}
	h := s.holder(o.namespace, kind)
	if o.home {
		s.rootfsOf(h, o.entry)
	}
	h.Path = paths[0]
	h.Evidence = []Evidence{
		{Text: o.entry.Line(), Show: fmt.Sprintf("grep -n '^%d ' %s", o.entry.ID, mountinfoOf(h))},
	}
	h.Why = fmt.Sprintf("an overlay keeps its layer %s: no table shows that, and an unmount on the host does not end it (%s)", paths[0], evidence)
	if kind == KindImage {
		h.Why = fmt.Sprintf("a file system is mounted from the file %s", paths[0])
	}
	h.restart()
	g := groups{search: s, namespace: o.namespace}
	h.Mounts = []Mount{{ID: o.entry.ID, Device: o.entry.Device, Root: o.entry.Root, MountPoint: o.entry.MountPoint, State: o.entry.State, Line: o.entry.Line()}}
	h.cure("unmount what is made of it", "what runs in it has to end first", g.unmounts(h)...)
	return *h
}

// rootfsOf finds the container whose root filesystem an overlay of the host is.
func (s *search) rootfsOf(h *Holder, e hostview.Entry) {
	for _, t := range s.Tasks {
		if t.Bundle.Rootfs() != e.MountPoint {
			continue
		}
		if p, ok := s.byPID[t.PID]; ok && t.PID != 0 {
			s.process(h, p)
		}
		h.Owner = ownerOf(t)
		h.Where = WhereContainer
		return
	}
}
