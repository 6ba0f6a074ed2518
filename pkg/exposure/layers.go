package exposure

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/namespaces"
	"github.com/mountward/mountward/pkg/overlay"
)

// layer is one directory that an overlay is made of.
type layer struct {
	at    facts.Identity
	upper bool // the one that is written to
}

// overlays searches the layers of overlays, which are mounted nowhere in the
// table. The node's own tables have the overlays of all containers, which are
// found in those.
func (f *finder) overlays(s *sight, t *hostview.Table, want *wanted) {
	if f.host == nil || slices.ContainsFunc(s.whos, Who.Node) {
		return
	}
	for e := range t.All() {
		if e.FSType != "overlay" {
			continue
		}
		layers, relative := layersOf(e, f.host)
		for _, l := range layers {
			for _, what := range want.what {
				if l.at.Device != what.Device {
					continue
				}
				if relative > 0 {
					f.relative(s, e, relative)
				}
				if p, ok := placeOf(t, e, l.at.Root, what.Root); ok {
					f.add(s, want, e, p, &l)
				}
			}
		}
	}
}

// relative notes layers that can be on the target and whose place is not known.
func (f *finder) relative(s *sight, e hostview.Entry, layers int) {
	u := namespaces.Unknown{
		What: fmt.Sprintf("%d layers of the overlay at %s in mnt:[%d]", layers, e.MountPoint, s.whos[0].MountNamespace),
		Why:  "they are named by relative paths",
	}
	if !slices.Contains(s.unknown, u) {
		s.unknown = append(s.unknown, u)
	}
}

// layersOf returns the layers of an overlay whose place is known: the paths in
// its options are the host's, and are looked up in the host's table, where the
// runtime made them. relative counts the layers that are named by a path that
// cannot be looked up.
func layersOf(e hostview.Entry, host *hostview.Table) (all []layer, relative int) {
	root := strings.TrimSuffix(e.Root, deletedSuffix)
	layers := overlay.Parse(e.SuperOptions)
	add := func(dir string, upper bool) {
		at, ok := layers.Rebase(dir)
		if !ok {
			relative++
			return
		}
		at = path.Join(at, root)
		if under, ok := host.Covering(at); ok {
			all = append(all, layer{under.HostMount(at).Identity(), upper})
		}
	}
	if layers.Upper != "" {
		add(layers.Upper, true)
	}
	for _, dir := range layers.Lower {
		add(dir, false)
	}
	return all, relative
}
