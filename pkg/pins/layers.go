package pins

import (
	"fmt"
	"path"
	"slices"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/internal/words"
	"github.com/mountward/mountward/pkg/namespaces"
	"github.com/mountward/mountward/pkg/overlay"
)

// overlaid is a superblock that holds others without a mount of theirs: an
// overlay its layers, an erofs without a device the file that it is made from.
type overlaid struct {
	entry     hostview.Entry
	namespace *namespaces.Namespace
	home      bool
	covered   string // by which mount, "" for none
	over      []int
	layers    []layer
}

type layer struct {
	path    string
	upper   bool
	covered hostview.Entry // the mount that the path is on by the namespace's table
	ok      bool
}

// maxLayers bounds the layers that are looked at of one overlay; the kernel has
// 500 at most.
const maxLayers = 512

// layer notes an overlay of a table: the host's mount of it, if there is one,
// since its layers are named as who mounted it saw them; and of several one by
// which its root is reached.
func (s *search) layer(n *namespaces.Namespace, table *hostview.Table, e hostview.Entry) {
	image := e.FSType == "erofs" && e.Device.Major == 0
	if e.FSType != "overlay" && !image {
		return
	}
	known, met := s.mounts.layered[e.Device]
	if met && (known.whole() || known.home && !s.isHome(n)) {
		return
	}
	o := overlaid{entry: e, namespace: n, home: s.isHome(n)}
	if o.covered, o.over = covered(table, e); met && !o.whole() {
		return
	}
	paths := []layer{{path: e.Source}}
	if !image {
		paths = layerPaths(overlay.Parse(e.SuperOptions))
	}
	for _, l := range paths[:min(len(paths), maxLayers)] {
		if path.IsAbs(l.path) {
			l.covered, l.ok = table.Covering(path.Clean(l.path))
		}
		o.layers = append(o.layers, l)
	}
	s.mounts.layered[e.Device] = o
}

// whole reports that the mount's path leads to the root of the superblock.
func (o overlaid) whole() bool { return o.covered == "" && o.entry.Root == "/" }

// layerPaths returns the directories of an overlay, the upper one first. One
// that is relative to a directory that is not known is returned as it is.
func layerPaths(l overlay.Layers) (all []layer) {
	if l.Upper != "" {
		all = append(all, layer{path: l.Upper, upper: true})
	}
	for _, lower := range l.Lower {
		if at, ok := l.Rebase(lower); ok {
			lower = at
		}
		if lower != "" {
			all = append(all, layer{path: lower})
		}
	}
	return all
}

// layers finds the overlays that have a layer on a target. Their mounts show
// nothing of that, and their options name the layers as paths, which can lead
// elsewhere by now: to what was mounted there since, or to what was below.
func (s *search) layers() {
	var all []overlaid
	for _, o := range s.mounts.layered {
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b overlaid) int { return a.entry.ID - b.entry.ID })
	var can []int // the targets that can have a layer
	for i := range s.reports {
		if s.reports[i].Target.NS == "" && !s.dead(i) {
			can = append(can, i)
		}
	}
	by := map[*namespaces.Namespace][]overlaid{}
	for _, o := range all {
		by[o.namespace] = append(by[o.namespace], o)
	}
	placed := map[facts.DeviceNumber][]placedLayer{}
	for n, some := range by {
		if len(can) == 0 {
			break
		}
		s.inside(n, func(host Inside) {
			for _, o := range some {
				placed[o.entry.Device] = s.place(host, o)
			}
		})
	}
	for _, o := range all {
		s.judge(o, placed[o.entry.Device], can)
	}
	s.searched("the layers of %s", words.Count(len(all), "overlay"))
}

func (o overlaid) name() string {
	return fmt.Sprintf("%s %s at %s of mnt:[%d]", o.entry.FSType, o.entry.Device, o.entry.MountPoint, o.namespace.Inode)
}

// judge tells of each target whether an overlay has a layer on it.
func (s *search) judge(o overlaid, all []placedLayer, targets []int) {
	if o.entry.FSType == "overlay" && len(o.layers) == 0 {
		for _, i := range targets {
			s.doubt(i, o.name()+": its layers are not told: its line in the mount table is too long, or has none")
		}
		return
	}
	for _, i := range targets {
		var held []placedLayer
		var may *placedLayer
		for j := range all {
			switch s.holds(i, &all[j]) {
			case facts.Yes:
				held = append(held, all[j])
			case facts.Unknown:
				if may == nil {
					may = &all[j]
				}
			case facts.No:
			}
		}
		switch {
		case len(held) > 0:
			s.add(i, s.layerHolder(o, held))
		case may != nil:
			s.doubt(i, fmt.Sprintf("%s: whether its layer %s is on it cannot be told: %s", o.name(), may.path, may.why))
		}
	}
}

// maxDoubts bounds the overlays that are listed as suspects.
const maxDoubts = 16

// doubt notes what can hold a target and what it cannot be told of.
func (s *search) doubt(i int, text string) {
	r := &s.reports[i]
	if r.doubts++; r.doubts <= maxDoubts {
		r.Suspects = append(r.Suspects, text)
	}
}

func (s *search) layerHolder(o overlaid, held []placedLayer) Holder {
	kind := KindOverlay
	if o.entry.FSType == "erofs" {
		kind = KindImage
	}
	h := s.holder(o.namespace, kind)
	if o.home {
		s.rootfsOf(h, o.entry)
	}
	h.Path = held[0].path
	h.Evidence = []Evidence{
		{Text: o.entry.Line(), Show: fmt.Sprintf("grep -n '^%d ' %s", o.entry.ID, mountinfoOf(h))},
	}
	h.Why = fmt.Sprintf("an overlay keeps its layer %s: no table shows that, and an unmount on the host does not end it (%s)", held[0].path, held[0].why)
	s.restart(h)
	h.Mounts = []Mount{{
		ID: o.entry.ID, Device: o.entry.Device, Root: o.entry.Root, MountPoint: o.entry.MountPoint, State: o.entry.State,
		Line: o.entry.Line(), Covered: o.covered, over: o.over,
	}}
	s.unmountThere(h, "unmount what is made of it", "what runs in it has to end first")
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
