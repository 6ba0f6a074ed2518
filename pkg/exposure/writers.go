package exposure

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/namespaces"
	"github.com/mountward/mountward/pkg/target"
)

// WriterReport is who could mount onto the host at one time.
type WriterReport struct {
	Time       time.Time            `json:"time"` // UTC, of the beginning
	Writers    []Writer             `json:"writers"`
	Namespaces int                  `json:"namespaces_searched"`
	Unknown    []namespaces.Unknown `json:"unknown"`
}

// Able reports whether anybody but the node itself can mount onto the host, or
// that cannot be told.
func (r WriterReport) Able() bool {
	return slices.ContainsFunc(r.Writers, func(w Writer) bool { return !w.Node() && w.Can.Truth != facts.No })
}

// Writer is somebody with a mount that is in a peer group of the host: what is
// mounted or unmounted below it is so on the host as well.
type Writer struct {
	Who
	// Can answers whether it has the right to mount: CAP_SYS_ADMIN in the user
	// namespace that owns its mount namespace. Seccomp and LSMs are not judged.
	Can    facts.Answer `json:"can_mount"`
	Mounts []Onto       `json:"mounts"`
	// Omitted counts the mounts that are not listed.
	Omitted int `json:"mounts_omitted,omitempty"`
}

// Onto is one mount that is shared with the host.
type Onto struct {
	Path    string  `json:"path"` // of the mount, in the container
	Through Through `json:"through"`
	Peer    int     `json:"peer_group"`
	MountID int     `json:"mount_id"` // in mountinfo
	// HostPaths are the directories of the host that are in the same peer group.
	HostPaths []string `json:"host_paths"`
	// Shared is unknown where the host's table did not have the group both
	// before and after the container's was read: numbers are used again.
	Shared   facts.Answer `json:"shared"`
	Evidence []Evidence   `json:"evidence"`
}

// Writers says who could mount onto the host: anywhere, or with targets onto,
// above or below where the host has one of them.
func Writers(ctx context.Context, n Node, targets []target.Target) WriterReport {
	r := WriterReport{Time: n.now(), Unknown: slices.Clone(n.Unknown)}
	f := n.newFinder(ctx, &r.Unknown)
	for _, t := range targets {
		f.wanted = append(f.wanted, n.wantedOf(t, f.host))
	}
	before := n.groups(ctx, nil)
	all := make([]*writers, len(n.Namespaces))
	r.Unknown = append(r.Unknown, n.scan(ctx, func(i int, t *hostview.Table) (complete bool) {
		if all[i] == nil {
			all[i] = &writers{ns: n.Namespaces[i], seen: map[int]bool{}}
		}
		all[i].look(t)
		return false // there can always be one more
	})...)
	after := n.groups(ctx, &r.Unknown)
	for _, w := range all {
		if w != nil {
			r.Namespaces++
			r.Writers = append(r.Writers, f.writersIn(w, before, after, len(targets) > 0)...)
		}
	}
	r.Unknown = append(r.Unknown, n.lost()...)
	slices.SortStableFunc(r.Writers, compareWriters)
	return r
}

func compareWriters(a, b Writer) int {
	if x, y := kindOrder(a.Kind), kindOrder(b.Kind); x != y {
		return x - y
	}
	return compareWho(a.Who, b.Who)
}

// groups are the visible mounts of the node's own namespaces, by peer group.
func (n Node) groups(ctx context.Context, unknown *[]namespaces.Unknown) map[int][]hostview.Entry {
	all := map[int][]hostview.Entry{}
	for _, inode := range n.Host {
		t, err := n.tableOf(ctx, inode)
		if err != nil {
			if unknown != nil {
				*unknown = append(*unknown, namespaces.Unknown{What: fmt.Sprintf("the node's mount table, mnt:[%d]", inode), Why: err.Error()})
			}
			continue
		}
		for e := range t.All() {
			if e.State.Peer != 0 {
				all[e.State.Peer] = append(all[e.State.Peer], e)
			}
		}
	}
	return all
}

// writers are the shared mounts of one mount namespace.
type writers struct {
	ns     *namespaces.Namespace
	mounts []hostview.Entry
	seen   map[int]bool // by mount id
}

func (w *writers) look(t *hostview.Table) {
	for e := range t.All() {
		if e.State.Peer != 0 && !w.seen[e.ID] {
			w.seen[e.ID] = true
			w.mounts = append(w.mounts, e)
		}
	}
}

func (f *finder) writersIn(found *writers, before, after map[int][]hostview.Entry, some bool) []Writer {
	var all []Writer
	for _, who := range f.whoIn(found.ns) {
		if who.Kind == KindHost {
			continue
		}
		w := Writer{Who: who}
		for _, e := range found.mounts {
			if f.isHost(found.ns.Inode) {
				break // each of its mounts is the node's
			}
			host := hostPaths(e, slices.Concat(before[e.State.Peer], after[e.State.Peer]))
			if len(host) == 0 || some && !f.covers(host) {
				continue
			}
			if len(w.Mounts) == maxPaths {
				w.Omitted++
				continue
			}
			w.Mounts = append(w.Mounts, f.onto(who, e, host, before[e.State.Peer], after[e.State.Peer]))
		}
		if len(w.Mounts) == 0 && w.Note == "" {
			continue
		}
		f.readUsers(&w.Who)
		w.Can = f.canMount(w.Who)
		all = append(all, w)
	}
	return all
}

// maxHostPaths bounds the places of the host that are listed of one group.
const maxHostPaths = 16

// hostPaths are the directories of the host below which it mounts what is mounted
// below a mount of the same peer group: where the two show the same directory. A
// mount of the group that shows another part of the file system gets nothing.
//
// Source: Documentation/filesystems/sharedsubtree.rst, section 5c.
func hostPaths(e hostview.Entry, group []hostview.Entry) (all []string) {
	root := strings.TrimSuffix(e.Root, deletedSuffix)
	for _, host := range group {
		at := host.MountPoint
		if below, ok := facts.Below(root, host.Root); ok {
			at = path.Join(at, below)
		} else if _, ok := facts.Below(host.Root, root); !ok {
			continue
		}
		if !slices.Contains(all, at) {
			all = append(all, at)
		}
	}
	return all
}

func (f *finder) onto(who Who, e hostview.Entry, host []string, before, after []hostview.Entry) Onto {
	o := Onto{
		Path: e.MountPoint, Through: f.through(who, e, e.MountPoint).Through, Peer: e.State.Peer, MountID: e.ID,
		Shared:   facts.CannotTell("the host's table had this peer group only before or only after the container's was read"),
		Evidence: []Evidence{{Text: e.Line(), Show: who.show(e.ID)}},
	}
	o.HostPaths = host[:min(len(host), maxHostPaths)]
	for _, host := range before {
		if slices.ContainsFunc(after, func(x hostview.Entry) bool { return x.ID == host.ID }) {
			o.Shared = facts.Is(true, fmt.Sprintf("shared:%d in both tables", e.State.Peer))
			o.Evidence = append(o.Evidence, Evidence{Text: host.Line(), Show: fmt.Sprintf("grep 'shared:%d ' /proc/1/mountinfo", e.State.Peer)})
			break
		}
	}
	return o
}

// covers reports whether a mount in one of these directories of the host could
// hide or show something at a place of a target.
func (f *finder) covers(host []string) bool {
	for i := range f.wanted {
		for _, place := range f.wanted[i].places {
			for _, dir := range host {
				if facts.Within(place, dir) || facts.Within(dir, place) {
					return true
				}
			}
		}
	}
	return false
}

// canMount answers whether somebody has the right to mount in his mount
// namespace.
func (f *finder) canMount(w Who) facts.Answer {
	var maybe []string
	for _, u := range w.Users {
		owner := u.UserNamespace != 0 && (u.UserNamespace == w.UserNamespace || u.UserNamespace == f.hostUser())
		switch {
		case u.has(capSysAdmin) && owner:
			return facts.Is(true, fmt.Sprintf("uid %d has %s", u.UID, capSysAdmin))
		case u.has(capSysAdmin):
			maybe = append(maybe, fmt.Sprintf("uid %d has %s, and of which user namespace the mounts are is not known", u.UID, capSysAdmin))
		case slices.Contains(u.bounding, capSysAdmin):
			maybe = append(maybe, fmt.Sprintf("uid %d does not have %s, and its bounding set does not keep it from getting it", u.UID, capSysAdmin))
		}
	}
	if w.Privileged.Truth == facts.Yes {
		return facts.Is(true, "privileged: "+w.Privileged.Why)
	}
	if w.UsersWhy != "" {
		maybe = append(maybe, w.UsersWhy)
	}
	if w.Kind == KindHeld {
		maybe = append(maybe, "nobody is in the namespace; who holds it can enter it")
	}
	if len(maybe) > 0 {
		return facts.CannotTell(strings.Join(maybe, "; "))
	}
	return facts.Is(false, fmt.Sprintf("no process of it has %s, nor can get it", capSysAdmin))
}
