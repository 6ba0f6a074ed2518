package hostview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

// Receiver is a place where a mount arrives. Its own propagation follows from
// the parent's: it is shared where that is, and a slave where that is no peer of
// the mount that the path lies on.
type Receiver struct {
	Namespace  uint64
	Parent     Entry  // the mount that it is mounted on
	MountPoint string // as its namespace sees it
	// Visible is false where it arrives beneath a mount that is there, or on a
	// mount that is covered itself: nobody reaches it by its path.
	Visible bool
}

// Reception is who receives a mount.
type Reception struct {
	// Receivers have first the path itself; the others follow by namespace and
	// id of the parent. A mount arrives at all of them or, where one namespace
	// is full (fs.mount-max), at none.
	Receivers []Receiver
	// Perhaps are those that receive it if a mount which no table shows passes it
	// on, or if a file system hides where its mounts begin.
	Perhaps []Receiver
	Why     string // why it is not all known; "" where it is
	// Upstream answers whether the path receives mounts that are made elsewhere
	// and does not pass its own back: from its master.
	Upstream facts.Answer
}

// Receivers tells who receives a mount that is made now at a canonical path of
// a namespace: the place itself and, where it is shared, its peers, their slaves
// and so on, as far as they show the directory. It is for a new mount; a bind of
// one of these mounts is not received by itself.
//
// The error is a *CannotTell: the namespace has no table, the path does not lie
// on any of its mounts, or on one whose root is removed, where the kernel makes
// no mount.
//
// Source: propagate_mnt in fs/pnode.c, attach_recursive_mnt in fs/namespace.c;
// compared with Linux 6.18 on random trees.
func (g *PeerGroups) Receivers(namespace uint64, path string) (Reception, error) {
	at, clean, err := g.covering(namespace, path)
	if err != nil {
		return Reception{}, err
	}
	position, err := g.position(at, clean)
	if err != nil {
		return Reception{}, err
	}
	r := g.record(at)
	w := wave{g: g, at: at, device: r.device, position: position, met: map[int32]bool{}, sure: []member{at}}
	w.follow(r.peer)
	g.sort(w.sure[1:])
	w.unseen(r.peer)
	g.sort(w.perhaps)
	result := Reception{
		Receivers: g.receivers(w.sure, position), Perhaps: g.receivers(w.perhaps, position),
		Why: strings.Join(w.why, "; "), Upstream: g.upstream(r.master),
	}
	// Of the place itself it is known, even where the root of its mount is odd.
	result.Receivers[0].MountPoint, result.Receivers[0].Visible = clean, true
	g.markHidden(result.Receivers)
	g.markHidden(result.Perhaps)
	return result, nil
}

// covering finds the mount that a path lies on.
func (g *PeerGroups) covering(namespace uint64, path string) (at member, clean string, err error) {
	n := slices.IndexFunc(g.tables, func(t NamespaceTable) bool { return t.Namespace == namespace })
	if n < 0 {
		return member{}, "", cannotTell(path, fmt.Sprintf("no mount table of the namespace mnt:[%d]", namespace))
	}
	clean, ok := facts.CleanAbs(path)
	if !ok {
		return member{}, "", cannotTell(path, "not an absolute path")
	}
	i := g.tables[n].Table.covering(clean)
	if i < 0 {
		return member{}, "", cannotTell(path, fmt.Sprintf("the mount table of the namespace mnt:[%d] has no root", namespace))
	}
	return member{int32(n), i}, clean, nil
}

// position tells where in its superblock a path is.
func (g *PeerGroups) position(at member, path string) (string, error) {
	root := g.root(at)
	if strings.HasSuffix(root, deleted) {
		return "", cannotTell(path, fmt.Sprintf("the root of mount %d is removed", g.record(at).id))
	}
	rest, _ := facts.Below(path, g.tables[at.table].Table.point(at.record))
	return facts.JoinRoot(root, rest), nil
}

// deleted is what the kernel appends to a root that is removed.
const deleted = "//deleted"

func (g *PeerGroups) receivers(members []member, position string) []Receiver {
	all := make([]Receiver, 0, len(members))
	for _, m := range members {
		t := g.tables[m.table]
		rest, _ := facts.Below(position, g.root(m))
		point := facts.JoinRoot(t.Table.point(m.record), rest)
		all = append(all, Receiver{
			Namespace: t.Namespace, Parent: t.Table.entry(m.record), MountPoint: point,
			Visible: t.Table.covering(point) == m.record,
		})
	}
	return all
}

// markHidden takes the mark from what another new mount covers: one that arrives
// at a directory above.
func (g *PeerGroups) markHidden(all []Receiver) {
	type place struct {
		namespace uint64
		path      string
	}
	covered := map[place]bool{}
	for _, r := range all {
		if r.Visible {
			covered[place{r.Namespace, r.MountPoint}] = true
		}
	}
	for i := range all {
		dir := all[i].MountPoint
		for end := strings.LastIndexByte(dir, '/'); all[i].Visible && end >= 0 && dir != "/"; end = strings.LastIndexByte(dir, '/') {
			dir = dir[:max(1, end)]
			all[i].Visible = !covered[place{all[i].Namespace, dir}]
		}
	}
}

func (g *PeerGroups) upstream(master int32) facts.Answer {
	if master == 0 {
		return facts.Is(false, "the mount has no master")
	}
	for _, m := range g.peers[master] {
		return facts.Is(true, fmt.Sprintf("group %d, which mount %d in mnt:[%d] is of", master, g.record(m).id, g.tables[m.table].Namespace))
	}
	return facts.CannotTell(fmt.Sprintf("its master, group %d, is in no table that was read", master))
}

func (g *PeerGroups) sort(members []member) {
	slices.SortFunc(members, func(a, b member) int {
		return cmp.Or(cmp.Compare(g.tables[a.table].Namespace, g.tables[b.table].Namespace), cmp.Compare(g.record(a).id, g.record(b).id))
	})
}
