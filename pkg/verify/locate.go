package verify

import (
	"iter"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// Table is the container's own mount table.
type Table interface {
	At(mountPoint string) (hostview.Entry, bool)
	All() iter.Seq[hostview.Entry]
}

// Place is where one asked mount is in the container.
type Place struct {
	Entry hostview.Entry
	Found bool
	// Sure is not set where another mount could be meant as well, or hides this
	// one: the entry then tells what is mounted, not how.
	Sure bool
	// Over is what lies over the mount at its destination, where that is of no
	// other: what the host mounted over the source since, and propagated.
	Over *hostview.Entry
	// Moved is set where another thing is mounted than was decided about: the
	// source was replaced, or something was mounted over it.
	Moved bool
}

// Located says which mounts of a container are the asked ones.
type Located struct {
	Places []Place // one an outcome
	// Rest are the mounts that no outcome accounts for, but for the root file
	// system: what came along with a recursive bind, what the runtime masks,
	// what hooks and other plugins added, and what was asked for and not found.
	Rest []Stray
}

// Locate finds the mounts that were asked for in the container's table. A mount
// point alone does not tell: a symbolic link of the image can lead a
// destination elsewhere, and several destinations to one place, where the
// table shows the topmost. So a mount is first looked for at its destination as
// what was decided about, then anywhere as that, and only then at its
// destination as whatever is there. No mount of the container is taken twice.
func Locate(outcomes []facts.Outcome, table Table) Located {
	return locate(outcomes, table, func(l *locator) []finder { return []finder{l.inPlace, l.elsewhere, l.replaced} })
}

// LocateUnknown is Locate where it is not known what was decided about: the
// outcomes have what their sources lead to now. That may be another thing by
// now, which another mount of the container shows, so what is at a destination
// counts more.
func LocateUnknown(outcomes []facts.Outcome, table Table) Located {
	return locate(outcomes, table, func(l *locator) []finder { return []finder{l.inPlace, l.replaced, l.elsewhere} })
}

// finder finds where the mount of an outcome is.
type finder func(facts.Outcome) (Place, bool)

func locate(outcomes []facts.Outcome, table Table, order func(*locator) []finder) Located {
	l := locator{
		Located: Located{Places: make([]Place, len(outcomes))}, table: table,
		taken: map[int]bool{}, at: map[string]int{}, shown: map[facts.Identity][]hostview.Entry{}, asked: map[facts.Identity]int{}, stack: map[string]int{},
	}
	for _, o := range outcomes {
		l.at[o.Mount.CleanDestination()]++
		l.asked[decidedAbout(o)]++
	}
	for e := range table.All() {
		l.shown[e.Identity()] = append(l.shown[e.Identity()], e)
		l.stack[e.MountPoint]++
	}
	for _, find := range order(&l) {
		for i, o := range outcomes {
			if l.Places[i].Found {
				continue
			}
			if p, ok := find(o); ok {
				l.Places[i] = p
				l.taken[p.Entry.ID] = true
			}
		}
	}
	for i, o := range outcomes {
		l.cover(&l.Places[i], o.Mount.CleanDestination())
	}
	l.strays()
	return l.Located
}

// cover notes what lies over a mount.
func (l *locator) cover(p *Place, destination string) {
	top, ok := l.table.At(destination)
	if ok && p.Found && top.ID != p.Entry.ID && p.Entry.MountPoint == destination &&
		!l.taken[top.ID] && l.at[destination] == 1 && len(l.shown[top.Identity()]) == 1 {
		p.Over = &top
	}
}

// strays lists the rest. A mount's parent is listed before it unless it was
// moved; what lies on a parent that is not known lies on the root.
func (l *locator) strays() {
	on := make(map[int]int, len(l.Places)) // mount id: outcome
	for i, p := range l.Places {
		if p.Found {
			on[p.Entry.ID] = i
		}
	}
	for e := range l.table.All() {
		if l.taken[e.ID] || e.MountPoint == "/" {
			continue
		}
		below, ok := on[e.Parent]
		if !ok {
			below = -1
		}
		on[e.ID] = below
		l.Rest = append(l.Rest, Stray{e, below})
	}
}

type locator struct {
	Located
	table Table
	taken map[int]bool // by mount id
	at    map[string]int
	shown map[facts.Identity][]hostview.Entry
	asked map[facts.Identity]int
	stack map[string]int // mounts at one mount point
}

// inPlace finds what was decided about at its destination. What is no bind has
// nothing that was decided about.
func (l *locator) inPlace(o facts.Outcome) (Place, bool) {
	e, ok := l.table.At(o.Mount.CleanDestination())
	if !ok || l.taken[e.ID] || o.Mount.Bind() && e.Identity() != decidedAbout(o) {
		return Place{}, false
	}
	alone := l.at[o.Mount.CleanDestination()] == 1 && l.stack[e.MountPoint] == 1 && len(l.shown[e.Identity()]) >= l.asked[e.Identity()]
	return Place{Entry: e, Found: true, Sure: alone || l.only(e)}, true
}

// elsewhere finds what was decided about at another mount point, or beneath
// another mount.
func (l *locator) elsewhere(o facts.Outcome) (Place, bool) {
	identity := decidedAbout(o)
	if !o.Mount.Bind() || identity.IsZero() {
		return Place{}, false
	}
	for _, e := range l.shown[identity] {
		if !l.taken[e.ID] {
			return Place{Entry: e, Found: true, Sure: l.only(e)}, true
		}
	}
	return Place{}, false
}

// replaced takes what is at a destination that no other mount has.
func (l *locator) replaced(o facts.Outcome) (Place, bool) {
	destination := o.Mount.CleanDestination()
	e, ok := l.table.At(destination)
	if !ok || l.taken[e.ID] || l.at[destination] > 1 {
		return Place{}, false
	}
	return Place{Entry: e, Found: true, Sure: l.stack[e.MountPoint] == 1, Moved: !decidedAbout(o).IsZero()}, true
}

// only reports that no other mount shows the same, that only one was asked for,
// and that it can be seen.
func (l *locator) only(e hostview.Entry) bool {
	top, ok := l.table.At(e.MountPoint)
	return ok && top.ID == e.ID && len(l.shown[e.Identity()]) == 1 && l.asked[e.Identity()] == 1
}

// decidedAbout is what the source led to when it was decided about.
func decidedAbout(o facts.Outcome) facts.Identity {
	if o.Mount.Host == nil {
		return facts.Identity{}
	}
	return o.Mount.Host.Identity()
}
