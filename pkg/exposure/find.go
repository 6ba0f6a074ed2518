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
		if t.Why != "" {
			r.Unknown = append(r.Unknown, namespaces.Unknown{What: t.Name, Why: t.Why})
		}
	}
	r.Below = f.want(targets, &r.Unknown)
	all := make([]*sight, len(n.Namespaces))
	unknown := n.scan(ctx, func(i int, t *hostview.Table) (complete bool) {
		if all[i] == nil {
			all[i] = &sight{namespace: n.Namespaces[i], whos: n.whoIn(n.Namespaces[i])}
			all[i].paths = make([]paths, len(all[i].whos))
		}
		return f.look(ctx, all[i], t)
	})
	r.Unknown = append(r.Unknown, unknown...)
	all = slices.DeleteFunc(all, func(s *sight) bool { return s == nil })
	r.Namespaces = len(all)
	r.Unknown = append(r.Unknown, f.open(ctx, all)...)
	for _, s := range all {
		f.report(&r, s)
	}
	r.Unknown = append(r.Unknown, f.suspects(all)...)
	r.Unknown = append(r.Unknown, n.lost()...)
	r.Unknown = append(r.Unknown, f.nowhere(targets, r.Viewers)...)
	slices.SortStableFunc(r.Viewers, compareViewers)
	slices.SortStableFunc(r.Powers, func(a, b Power) int { return compareWho(a.Who, b.Who) })
	return r
}

// paths is what one Who reaches.
type paths struct {
	list    []Path
	seen    map[string]bool
	shown   map[shown]bool
	omitted int
}

// shown is a target that a mount shows.
type shown struct {
	target string
	mount  int
}

// look searches a table for all targets, and reports whether each was found: if
// not, the table has to be read again.
func (f *finder) look(ctx context.Context, s *sight, t *hostview.Table) (complete bool) {
	complete = true
	for i := range f.wanted {
		found := false
		for _, what := range f.wanted[i].what {
			for _, e := range t.ByDevice(what.Device) {
				f.note(e)
				if p, ok := placeOf(t, e, e.Root, what.Root); ok {
					f.add(s, &f.wanted[i], e, p, nil)
					found = true
				}
			}
		}
		complete = complete && found
	}
	f.overlays(ctx, s, t)
	f.noteBtrfs(t)
	return complete
}

// add notes a place for everybody in the namespace.
func (f *finder) add(s *sight, want *wanted, e hostview.Entry, p place, l *layer) {
	part := want.at(p.part)
	for i := range s.whos {
		w, paths := s.whos[i], &s.paths[i]
		key := fmt.Sprintf("%d %s\x00%s\x00%s", e.ID, want.name, p.path, part)
		if l != nil { // of many read-only layers one tells all
			key = fmt.Sprintf("%d %s\x00layer %v", e.ID, want.name, l.upper)
		}
		if paths.shown == nil {
			paths.shown = map[shown]bool{}
		}
		paths.shown[shown{want.name, e.ID}] = true
		if !paths.room(key) {
			continue
		}
		a := f.through(w, e, p.path)
		state := e.State
		entry := Path{
			Target: want.name, Path: p.path, Part: part, Deleted: p.deleted,
			Through: a.Through, Writable: writable(e), Own: f.ownOf(w, *want, e, a), State: &state,
			HostPath: a.hostPath, Twin: want.twin(a.hostPath, f.KubeletRoot), MountID: e.ID,
			Evidence: []Evidence{{Text: e.Line(), Show: w.show(e.ID)}},
		}
		if l != nil {
			entry.Evidence[0].Text += ": " + l.why
		}
		if l != nil && !l.upper {
			entry.Writable, entry.lower = facts.Is(false, "a lower layer of an overlay is not written to"), true
		}
		paths.list = append(paths.list, entry)
	}
}

// room reports whether something is to be listed: it is not yet, and there are
// not too many.
func (p *paths) room(key string) bool {
	if p.seen[key] {
		return false
	}
	if p.seen == nil {
		p.seen = map[string]bool{}
	}
	p.seen[key] = true
	if len(p.list) == maxPaths {
		p.omitted++
		return false
	}
	return true
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
		f.remount(*w, found.list)
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
