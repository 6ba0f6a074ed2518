package exposure

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/namespaces"
	"github.com/mountward/mountward/pkg/target"
)

// maxPaths bounds the paths that are listed of one viewer.
const maxPaths = 256

// Find says who reaches the targets. What could not be read is in the report.
func Find(ctx context.Context, n Node, targets []target.Target) Report {
	r := Report{Time: n.now(), Unknown: slices.Clone(n.Unknown)}
	f := n.newFinder(ctx, &r.Unknown)
	for _, t := range targets {
		f.wanted = append(f.wanted, n.wantedOf(t, f.host))
		if t.Why != "" {
			r.Unknown = append(r.Unknown, namespaces.Unknown{What: t.Name, Why: t.Why})
		}
	}
	all := make([]*sight, len(n.Namespaces))
	unknown := n.scan(ctx, func(i int, t *hostview.Table) (complete bool) {
		if all[i] == nil {
			all[i] = &sight{whos: n.whoIn(n.Namespaces[i])}
			all[i].paths = make([]paths, len(all[i].whos))
		}
		return f.look(all[i], t)
	})
	r.Unknown = append(r.Unknown, unknown...)
	for _, s := range all {
		if s == nil {
			continue
		}
		r.Namespaces++
		f.report(&r, s)
		r.Unknown = append(r.Unknown, s.unknown...)
	}
	r.Unknown = append(r.Unknown, n.lost()...)
	slices.SortStableFunc(r.Viewers, compareViewers)
	slices.SortStableFunc(r.Powers, func(a, b Power) int { return compareWho(a.Who, b.Who) })
	return r
}

// finder is a search: the targets, and the host they are of.
type finder struct {
	Node
	host   *hostview.Table // nil where it could not be read
	peers  map[int]bool    // the peer groups of the node's own namespaces
	wanted []wanted
}

// newFinder reads the tables of the node's own namespaces.
func (n Node) newFinder(ctx context.Context, unknown *[]namespaces.Unknown) *finder {
	f := &finder{Node: n, peers: map[int]bool{}}
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

// sight is what was seen of one mount namespace.
type sight struct {
	whos    []Who
	paths   []paths // one a Who
	unknown []namespaces.Unknown
}

type paths struct {
	list    []Path
	seen    map[string]bool
	omitted int
}

// look searches a table for all targets, and reports whether each was found: if
// not, the table has to be read again.
func (f *finder) look(s *sight, t *hostview.Table) (complete bool) {
	complete = true
	for i := range f.wanted {
		found := false
		for _, what := range f.wanted[i].what {
			for _, e := range t.ByDevice(what.Device) {
				if p, ok := placeOf(t, e, e.Root, what.Root); ok {
					f.add(s, &f.wanted[i], e, p, nil)
					found = true
				}
			}
		}
		f.overlays(s, t, &f.wanted[i])
		complete = complete && found
	}
	return complete
}

// add notes a place for everybody in the namespace.
func (f *finder) add(s *sight, want *wanted, e hostview.Entry, p place, l *layer) {
	for i := range s.whos {
		w, paths := s.whos[i], &s.paths[i]
		key := fmt.Sprintf("%d %s\x00%s\x00%s", e.ID, want.name, p.path, p.part)
		if l != nil { // of many read-only layers one tells all
			key = fmt.Sprintf("%d %s\x00layer %v", e.ID, want.name, l.upper)
		}
		if paths.seen[key] {
			continue
		}
		if paths.seen == nil {
			paths.seen = map[string]bool{}
		}
		paths.seen[key] = true
		if len(paths.list) == maxPaths {
			paths.omitted++
			continue
		}
		a := f.through(w, e, p.path)
		state := e.State
		entry := Path{
			Target: want.name, Path: p.path, Part: p.part, Deleted: p.deleted,
			Through: a.Through, Writable: writable(e), Own: f.ownOf(w, *want, e, a), State: &state,
			HostPath: a.hostPath, Twin: want.twin(a.hostPath, f.KubeletRoot), MountID: e.ID,
			Evidence: []Evidence{{Text: e.Line(), Show: w.show(e.ID)}},
		}
		if l != nil && !l.upper {
			entry.Writable = facts.Is(false, "a lower layer of an overlay is not written to")
		}
		paths.list = append(paths.list, entry)
	}
}

// report adds those of a namespace that reach something.
func (f *finder) report(r *Report, s *sight) {
	for i := range s.whos {
		w, found := &s.whos[i], s.paths[i]
		devices := f.rawOf(*w)
		found.list = append(found.list, devices...)
		if len(found.list) == 0 && w.Kind != KindContainer {
			continue
		}
		f.readUsers(w)
		if p, ok := f.powerOf(*w); ok {
			r.Powers = append(r.Powers, p)
		}
		if len(found.list) == 0 {
			continue
		}
		slices.SortStableFunc(found.list, comparePaths)
		r.Viewers = append(r.Viewers, Viewer{Who: *w, Own: ownOfAll(found.list), Paths: found.list, Omitted: found.omitted})
	}
}

// ownOfAll is the own answer of the path that is the least one's own.
func ownOfAll(list []Path) facts.Answer {
	worst := list[0].Own
	for _, p := range list {
		if foreign(p.Own) < foreign(worst) {
			worst = p.Own
		}
	}
	return worst
}

// foreign orders what is not one's own first.
func foreign(own facts.Answer) int {
	switch own.Truth {
	case facts.No:
		return 0
	case facts.Yes:
		return 2
	default:
		return 1
	}
}

func comparePaths(a, b Path) int {
	return cmp.Or(cmp.Compare(foreign(a.Own), foreign(b.Own)), strings.Compare(a.Target, b.Target), strings.Compare(a.Path, b.Path))
}

func compareViewers(a, b Viewer) int {
	return cmp.Or(
		cmp.Compare(kindOrder(a.Kind), kindOrder(b.Kind)),
		cmp.Compare(foreign(a.Own), foreign(b.Own)),
		compareWho(a.Who, b.Who),
	)
}

// kindOrder puts the node and its services last: they reach everything.
func kindOrder(kind string) int {
	switch kind {
	case KindHost:
		return 2
	case KindService:
		return 1
	default:
		return 0
	}
}

func compareWho(a, b Who) int {
	return cmp.Or(
		strings.Compare(a.Kind, b.Kind), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Pod, b.Pod),
		strings.Compare(a.Container, b.Container), strings.Compare(a.ContainerID, b.ContainerID),
		strings.Compare(a.Unit, b.Unit), cmp.Compare(a.MountNamespace, b.MountNamespace),
	)
}
