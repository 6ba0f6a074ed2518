package exposure

import (
	"context"
	"fmt"
	"sync"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/namespaces"
	"github.com/mountward/mountward/pkg/target"
)

// finder is a search: the targets, and the host they are of.
type finder struct {
	Node
	host   *hostview.Table // nil where it could not be read
	peers  map[int]bool    // the peer groups of the node's own namespaces
	wanted []wanted

	threads map[int]bool // that are in a mount namespace of their own

	mu       sync.Mutex                       // of what follows, while tables are read
	mounts   map[int]hostview.Entry           // of what is wanted, in any namespace, by id
	btrfs    map[int]int                      // what mounts are, by id; nil where no target is a btrfs
	overlaid map[facts.DeviceNumber]*overlaid // overlays, by their own number
	onTarget map[overlayOf]bool               // those that are proved to be on one
}

// want notes what is looked for, and returns how many mounts below the targets
// that is as well.
func (f *finder) want(targets []target.Target, unknown *[]namespaces.Unknown) (below int) {
	for _, t := range targets {
		all, omitted := f.belowOf(t, f.host)
		f.wanted = append(f.wanted, f.wantedOf(t, f.host))
		f.wanted = append(f.wanted, all...)
		below += len(all)
		for _, superblock := range t.Superblocks {
			if f.btrfs == nil && superblock.FSType == "btrfs" {
				f.btrfs = map[int]int{}
			}
		}
		if omitted > 0 {
			*unknown = append(*unknown, namespaces.Unknown{
				What: fmt.Sprintf("%d more mounts below %s", omitted, t.Name), Why: fmt.Sprintf("no more than %d are asked about", maxBelow),
			})
		}
	}
	return below
}

// newFinder reads the tables of the node's own namespaces.
func (n Node) newFinder(ctx context.Context, unknown *[]namespaces.Unknown) *finder {
	f := &finder{Node: n, peers: map[int]bool{}, mounts: map[int]hostview.Entry{}, overlaid: map[facts.DeviceNumber]*overlaid{}, onTarget: map[overlayOf]bool{}}
	for i, inode := range n.Host {
		t, err := n.tableOf(ctx, inode)
		if err != nil {
			*unknown = append(*unknown, namespaces.Unknown{What: fmt.Sprintf("the node's mount table, mnt:[%d]", inode), Why: err.Error()})
			continue
		}
		if i == 0 {
			f.host = t
		}
		for e := range t.All() {
			if e.State.Peer != 0 {
				f.peers[e.State.Peer] = true
			}
		}
	}
	return f
}

// note keeps a mount of what is wanted, by which open files are told.
func (f *finder) note(e hostview.Entry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mounts[e.ID] = e
}
