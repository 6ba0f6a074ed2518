package exposure

import (
	"slices"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/namespaces"
	"github.com/mountward/mountward/pkg/target"
)

// nowhere lists the numbers that nothing on the node has: no device, no table,
// no process. They are not answered about, since one who mistypes a number would
// take that for the answer.
func (f *finder) nowhere(targets []target.Target, viewers []Viewer) (all []namespaces.Unknown) {
	seen := map[facts.DeviceNumber]bool{}
	for _, e := range f.mounts {
		seen[e.Device] = true
	}
	for _, t := range targets {
		reached := slices.ContainsFunc(viewers, func(v Viewer) bool {
			return slices.ContainsFunc(v.Paths, func(p Path) bool { return p.Target == t.Name })
		})
		number := t.Kind == target.KindDevice || t.Kind == target.KindAnonymous
		known := t.Chain != nil || slices.ContainsFunc(t.Superblocks, func(s target.Superblock) bool { return seen[s.Device] })
		if number && !known && !reached {
			all = append(all, namespaces.Unknown{What: t.Name, Why: "no such target: no device, no mount table and no process of this node has this number"})
		}
	}
	return all
}
