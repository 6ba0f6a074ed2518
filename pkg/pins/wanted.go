package pins

import (
	"slices"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/target"
)

// wanted is what is looked for, of all targets at once.
type wanted struct {
	superblocks map[facts.DeviceNumber][]part
	pools       map[string][]part // btrfs by its id
	namespaces  map[string][]int  // "net:[4026532177]"
	blocks      map[facts.DeviceNumber][]int
}

// part is a superblock of a target.
type part struct {
	target int
	target.Superblock
}

func want(targets []target.Target) wanted {
	w := wanted{
		superblocks: map[facts.DeviceNumber][]part{}, pools: map[string][]part{},
		namespaces: map[string][]int{}, blocks: map[facts.DeviceNumber][]int{},
	}
	for i := range targets {
		for _, s := range targets[i].Superblocks {
			switch {
			case targets[i].NS != "":
			case s.Device.IsZero() && s.BtrfsID != "":
				w.pools[s.BtrfsID] = append(w.pools[s.BtrfsID], part{i, s})
			default:
				w.superblocks[s.Device] = append(w.superblocks[s.Device], part{i, s})
			}
		}
		for _, b := range targets[i].Blocks {
			w.blocks[b] = append(w.blocks[b], i)
		}
		if ns := targets[i].NS; ns != "" {
			w.namespaces[ns] = append(w.namespaces[ns], i)
		}
	}
	return w
}

// mounted returns the targets that a mount is of. For a path that is the mounts
// from it and from below it: what shows a directory above holds the file system,
// not the path.
func (w wanted) mounted(e hostview.Entry) []int {
	if e.FSType == "nsfs" {
		return w.namespaces[e.Root]
	}
	return w.inside(e.Identity())
}

// inside returns the targets that a file is in, or that have it for a layer.
func (w wanted) inside(at facts.Identity) (found []int) {
	for _, p := range w.superblocks[at.Device] {
		if p.Holds(at) && !slices.Contains(found, p.target) {
			found = append(found, p.target)
		}
	}
	return found
}
