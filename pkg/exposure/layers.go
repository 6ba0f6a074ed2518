package exposure

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/namespaces"
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
	root, snapshots := strings.TrimSuffix(e.Root, deletedSuffix), ""
	add := func(dir string, upper bool) {
		if !path.IsAbs(dir) {
			if snapshots == "" || !isSnapshot(dir) {
				relative++
				return
			}
			dir = path.Join(snapshots, dir)
		}
		dir = path.Join(dir, root)
		if under, ok := host.Covering(dir); ok {
			all = append(all, layer{under.HostMount(dir).Identity(), upper})
		}
	}
	options := strings.Split(e.SuperOptions, ",")
	for _, option := range options {
		if upper, ok := strings.CutPrefix(option, "upperdir="); ok {
			snapshots = snapshotsOf(unescape(octal(upper)))
		}
	}
	for _, option := range options {
		name, value, _ := strings.Cut(option, "=")
		switch value = octal(value); name {
		case "upperdir":
			add(unescape(value), true)
		case "lowerdir":
			for _, dir := range splitLayers(value) {
				add(dir, false)
			}
		case "lowerdir+", "datadir+":
			add(value, false)
		}
	}
	return all, relative
}

// snapshotsOf returns the directory of containerd's snapshots, of which the upper
// directory is one, "" where it is none. containerd names the layers relative to
// it where they are many.
func snapshotsOf(upper string) string {
	dir := path.Dir(path.Dir(upper))
	if rest, ok := facts.Below(upper, dir); ok && path.IsAbs(upper) && isSnapshot(rest) {
		return dir
	}
	return ""
}

// isSnapshot reports a path of the form NUMBER/fs.
func isSnapshot(dir string) bool {
	number, ok := strings.CutSuffix(dir, "/fs")
	return ok && number != "" && strings.Trim(number, "0123456789") == ""
}
