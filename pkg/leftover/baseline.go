package leftover

import (
	"hash/maphash"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// maxBaseline bounds what is remembered of one container.
const maxBaseline = 1 << 14

// Baseline is what was mounted at and below the paths that a container shares
// with the host, before its own mounts were made. Mounts are remembered by a hash: a node has
// tens of thousands.
type Baseline struct {
	seed   maphash.Seed
	counts map[uint64]int32
	full   bool
}

// Remember takes the baseline of the shared paths, which are canonical.
func Remember(table *hostview.Table, shared []string) *Baseline {
	b := &Baseline{seed: maphash.MakeSeed(), counts: map[uint64]int32{}}
	for e := range table.All() {
		if !below(e.MountPoint, shared) {
			continue
		}
		if len(b.counts) == maxBaseline {
			b.full = true
			break
		}
		b.counts[b.key(e)]++
	}
	return b
}

// known reports whether the baseline says anything: one that was cut short
// cannot tell an old mount from a new one.
func (b *Baseline) known() bool { return b != nil && !b.full }

// count is how many mounts of the same thing there were at the same place.
func (b *Baseline) count(e hostview.Entry) int { return int(b.counts[b.key(e)]) }

func (b *Baseline) key(e hostview.Entry) uint64 {
	return maphash.Comparable(b.seed, place{e.MountPoint, e.Identity()})
}

// place is one thing mounted at one place.
type place struct {
	mountPoint string
	identity   facts.Identity
}

func below(path string, dirs []string) bool {
	for _, dir := range dirs {
		if facts.Within(path, dir) {
			return true
		}
	}
	return false
}
