package hostview

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

// NamespaceTable is the mount table of one mount namespace.
type NamespaceTable struct {
	Namespace uint64 // inode number, as in mnt:[INODE]
	Table     *Table
}

// PeerGroups are the peer groups of several mount namespaces and who receives
// from whom. It never changes and may be used by many goroutines.
type PeerGroups struct {
	tables []NamespaceTable
	peers  map[int32][]member // by group
	slaves map[int32][]member // by the group that they receive from
}

// member is a mount of one of the tables.
type member struct{ table, record int32 }

// NewPeerGroups joins tables that were read in one pass: the kernel uses a group
// number again when a group is gone. Of several tables of one namespace the
// first counts. The table of a process in a chroot shows only what is below its
// root; what a namespace that is not among the tables receives is not known.
func NewPeerGroups(tables []NamespaceTable) *PeerGroups {
	g := &PeerGroups{peers: map[int32][]member{}, slaves: map[int32][]member{}}
	known := map[uint64]bool{}
	for _, t := range tables {
		if t.Table == nil || known[t.Namespace] {
			continue
		}
		known[t.Namespace] = true
		n := int32(len(g.tables))
		g.tables = append(g.tables, t)
		for i := range t.Table.records {
			r := &t.Table.records[i]
			m := member{n, int32(i)}
			if r.peer != 0 {
				g.peers[r.peer] = append(g.peers[r.peer], m)
			}
			if r.master != 0 {
				g.slaves[r.master] = append(g.slaves[r.master], m)
			}
		}
	}
	return g
}

// Peers returns how many mounts of the tables are in a group.
func (g *PeerGroups) Peers(group int) int { return len(g.peers[int32(group)]) }

func (g *PeerGroups) record(m member) *record { return &g.tables[m.table].Table.records[m.record] }

func (g *PeerGroups) root(m member) string { return g.tables[m.table].Table.words[g.record(m).root] }

// wave is one mount on its way through the groups.
type wave struct {
	g        *PeerGroups
	at       member // where it is made
	device   facts.DeviceNumber
	position string // of the mount point in the superblock
	met      map[int32]bool
	doubtful bool // whether the mount reaches the groups that are followed

	sure, perhaps []member
	why           []string
}

// follow adds the members of a group, its slaves, the peers of those, and so on.
// 0 is no group.
func (w *wave) follow(group int32) {
	if group == 0 || w.met[group] {
		return
	}
	for next := []int32{group}; len(next) > 0; {
		group, next = next[0], next[1:]
		if w.met[group] {
			continue
		}
		w.met[group] = true
		for _, m := range w.g.peers[group] {
			w.add(m)
		}
		for _, m := range w.g.slaves[group] {
			if peer := w.g.record(m).peer; peer != 0 {
				next = append(next, peer)
			} else {
				w.add(m)
			}
		}
	}
}

// unseen adds what receives from a group that is in no table: that group may be
// a slave of one that the mount reaches.
func (w *wave) unseen(from int32) {
	if from == 0 {
		return
	}
	w.doubtful = true
	for _, group := range slices.Sorted(maps.Keys(w.g.slaves)) {
		if len(w.g.peers[group]) > 0 || w.met[group] {
			continue
		}
		before := len(w.perhaps)
		w.follow(group)
		if len(w.perhaps) > before {
			w.say(fmt.Sprintf("group %d, which others receive from, is in no table that was read", group))
		}
	}
}

func (w *wave) add(m member) {
	r := w.g.record(m)
	if m == w.at {
		return
	}
	if r.device != w.device {
		if !w.doubtful {
			w.say(fmt.Sprintf("group %d has mounts of two file systems: the tables are of different moments", max(r.peer, r.master)))
		}
		return
	}
	root := w.g.root(m)
	switch {
	case w.g.hidesRoot(m):
		w.say("the file system does not tell where its mounts begin: " + w.g.tables[m.table].Table.words[r.fsType])
		w.perhaps = append(w.perhaps, m)
	case !facts.Within(w.position, root):
	case w.doubtful:
		w.perhaps = append(w.perhaps, m)
	default:
		w.sure = append(w.sure, m)
	}
}

// hidesRoot reports that the root of a mount is not what the table says: NFS
// writes "/" whatever is bound, and a cgroup is written relative to the reader's.
func (g *PeerGroups) hidesRoot(m member) bool {
	fsType := g.tables[m.table].Table.words[g.record(m).fsType]
	return fsType == "nfs" || fsType == "nfs4" || strings.HasPrefix(g.root(m), "/..")
}

func (w *wave) say(why string) {
	if !slices.Contains(w.why, why) {
		w.why = append(w.why, why)
	}
}
