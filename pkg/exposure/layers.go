package exposure

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/overlay"
)

// layer is one directory that an overlay is made of, at a place that is proved.
type layer struct {
	at    facts.Identity
	upper bool // the one that is written to
	why   string
}

// overlaid is what is known of the layers of one overlay.
type overlaid struct {
	known  []layer
	doubts []doubt
}

// doubt is a layer at no place that is known. It can be on anything but what
// ruledOut reports; nil: nothing.
type doubt struct {
	why      string
	lower    bool // it is read-only
	ruledOut func(sought) bool
}

// about is why it cannot be told whether a layer is on what is sought, false where
// it can.
func (o *overlaid) about(what sought) (doubt, bool) {
	for _, d := range o.doubts {
		if d.ruledOut == nil || !d.ruledOut(what) {
			return d, true
		}
	}
	return doubt{}, false
}

// overlays searches the layers of overlays, which are mounted nowhere in the
// table. The node's own tables have the overlays of all containers, which are
// found in those.
func (f *finder) overlays(ctx context.Context, s *sight, t *hostview.Table) {
	if slices.ContainsFunc(s.whos, Who.Node) {
		return
	}
	for e := range t.All() {
		if e.FSType != "overlay" {
			continue
		}
		o := f.layersOf(ctx, s, e)
		root := strings.TrimSuffix(e.Root, deletedSuffix)
		for i := range f.wanted {
			for _, what := range f.wanted[i].what {
				for _, l := range o.known {
					if l.at.Device != what.Device {
						continue
					}
					if p, ok := placeOf(t, e, path.Join(l.at.Root, root), what.Root); ok {
						f.add(s, &f.wanted[i], e, p, &l)
						f.mu.Lock()
						f.onTarget[overlayOf{f.wanted[i].name, e.Device}] = true
						f.mu.Unlock()
					}
				}
				if why, ok := o.about(what); ok && !kernelMade(what.fsType) {
					s.suspect(&f.wanted[i], e, why)
				}
			}
		}
	}
}

// layersOf finds the layers of an overlay. Their names are paths that can lead
// elsewhere by now: what was mounted there can have been unmounted, and another
// be in its place. An upper directory counts where file handles prove it; a
// lower one where it lies beside that as containerd has them.
func (f *finder) layersOf(ctx context.Context, s *sight, e hostview.Entry) *overlaid {
	f.mu.Lock()
	o := f.overlaid[e.Device]
	f.mu.Unlock()
	if o != nil {
		return o
	}
	o = f.prove(ctx, s, e)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.overlaid[e.Device] = o
	return o
}

func (f *finder) prove(ctx context.Context, s *sight, e hostview.Entry) *overlaid {
	o := &overlaid{}
	names := overlay.Parse(e.SuperOptions)
	if names.Upper == "" && len(names.Lower) == 0 {
		o.doubts = []doubt{{why: "its layers are not told"}}
		return o
	}
	proved, likely := false, false
	if names.Upper != "" {
		proved, likely = f.proveUpper(ctx, o, s, e)
	}
	lost := ""
	for _, lower := range names.Lower {
		name, ok := names.Rebase(lower)
		at, found := f.covered(name)
		switch {
		case ok && likely && beside(name, names.Upper): // with the upper one, whichever that is
		case ok && found && proved && beside(name, names.Upper):
			o.known = append(o.known, layer{at, false, "its lower layer " + name + " lies beside the upper one"})
		case lost == "":
			lost = lower
		}
	}
	if lost != "" {
		o.doubts = append(o.doubts, doubt{lower: true, why: fmt.Sprintf("on which file system its lower layer %s is cannot be told: the kernel tells only its name", lost)})
	}
	return o
}

// proveUpper finds the upper directory. What its name leads to and is not it by
// the handles is ruled out; what is it only by its size is not proved, and rules
// out what is of another size: it is likely then.
func (f *finder) proveUpper(ctx context.Context, o *overlaid, s *sight, e hostview.Entry) (proved, likely bool) {
	u := f.upperOf(ctx, s, e)
	at := u.At.Identity()
	d := doubt{why: fmt.Sprintf("on which file system its upper directory %s is cannot be told: %s", u.Name, u.Verified.Why)}
	switch {
	case u.ByHandle && u.Verified.Truth == facts.Yes:
		o.known = append(o.known, layer{at, true, "its upper directory is " + u.Name + ": " + u.Verified.Why})
		return true, false
	case u.Verified.Truth == facts.No:
		d.ruledOut = func(what sought) bool { return what.Device == at.Device }
	case u.Verified.Truth == facts.Yes:
		likely = true
		d.ruledOut = func(what sought) bool {
			return what.Device != at.Device && f.Differ != nil && f.Differ(ctx, u.At.MountPoint, f.placesOf(what))
		}
	}
	o.doubts = append(o.doubts, d)
	return false, likely
}

// covered is where a path of the node leads by its mount table.
func (f *finder) covered(name string) (facts.Identity, bool) {
	if f.host == nil || name == "" {
		return facts.Identity{}, false
	}
	name = path.Clean(name)
	e, ok := f.host.Covering(name)
	if !ok {
		return facts.Identity{}, false
	}
	return e.HostMount(name).Identity(), true
}

// beside reports two layers of one snapshotter of containerd:
// <directory>/<number>/fs.
func beside(lower, upper string) bool {
	dirL, okL := snapshots(lower)
	dirU, okU := snapshots(upper)
	return okL && okU && dirL == dirU
}

func snapshots(name string) (dir string, ok bool) {
	number, ok := strings.CutSuffix(path.Clean(name), "/fs")
	base := path.Base(number)
	return path.Dir(number), ok && path.IsAbs(number) && strings.Trim(base, "0123456789") == "" && base != ""
}
