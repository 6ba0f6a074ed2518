package apply

import (
	"context"
	"fmt"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// maxAlong bounds the mounts on one asked mount that are looked at one by one.
const maxAlong = 1024

// namespacePlanner finds what is to be done. It changes nothing.
type namespacePlanner struct {
	NamespaceRequest
	ctx      context.Context
	on       map[int][]hostview.Entry // by id of the parent
	asked    map[int]int              // index of the outcome by id of its mount
	findings []facts.Finding
}

func (p *namespacePlanner) index() {
	p.on, p.asked = map[int][]hostview.Entry{}, map[int]int{}
	for e := range p.Table.All() {
		if e.ID != e.Parent {
			p.on[e.Parent] = append(p.on[e.Parent], e)
		}
	}
	for i, place := range p.Located.Places {
		if place.Found {
			p.asked[place.Entry.ID] = i
		}
	}
}

// deferred returns a change for each outcome that was deferred.
func (p *namespacePlanner) deferred() []change {
	var all []change
	for i, o := range p.Outcomes {
		if o.Result == facts.Deferred {
			all = append(all, p.outcome(i, o))
		}
	}
	return all
}

func (p *namespacePlanner) outcome(i int, o facts.Outcome) change {
	place := p.Located.Places[i]
	c := change{index: i, outcome: o, entry: place.Entry}
	switch {
	case !place.Found:
		return c.unsure("the container's table has no mount at %s, and none of what was decided about", o.Mount.CleanDestination())
	case place.Moved:
		return c.unsure("another thing is mounted than was decided about: the source was replaced or overmounted since")
	case place.Over != nil:
		return c.unsure("the host has mounted something over its source since")
	case !place.Sure && !p.agree(i) && p.visible(place.Entry):
		return c.unsure("several mounts show what was decided about; the table does not tell which is which")
	}
	return p.look(c, o.Mount.Source, o.Mount.RecursiveReadOnly())
}

// agree reports that whatever other outcome could be meant by the mount of this
// one has the same decision.
func (p *namespacePlanner) agree(i int) bool {
	one := p.Outcomes[i]
	for j, other := range p.Outcomes {
		same := p.Located.Places[j].Found && p.Located.Places[j].Entry.Identity() == p.Located.Places[i].Entry.Identity()
		if same && (other.Result != facts.Deferred || other.Decided != one.Decided) {
			return false
		}
	}
	return true
}

func (c change) unsure(format string, args ...any) change {
	c.verb, c.why = cannotTell, fmt.Sprintf(format, args...)
	return c
}

// look judges a mount by what its source is on the host now.
func (p *namespacePlanner) look(c change, source string, rro bool) change {
	s := sight{decided: c.outcome.Decided, seen: c.entry.State, rro: rro}
	host, err := p.Lookup(source)
	switch {
	case err != nil:
		s.hostWhy = "cannot tell the source's host mount: " + err.Error()
	case host.Identity() != c.entry.Identity():
		s.hostWhy = fmt.Sprintf("%s now leads to %s %s and the container has %s %s", source, host.Device, host.Identity().Root, c.entry.Device, c.entry.Root)
	default:
		s.host = &host.State
		c.source = host.Canonical
	}
	c.verb, c.why = s.verb()
	if c.verb.acts() && !p.visible(c.entry) {
		c.verb, c.why = cannot, "another mount lies over it, and no path leads to it"
	}
	switch c.verb {
	case raise:
		p.raiseAlong(&c)
	case makePrivate, makeSlave:
		p.lowerAlong(&c)
	default:
	}
	return c
}

// visible reports whether a mount is what its mount point leads to.
func (p *namespacePlanner) visible(e hostview.Entry) bool {
	top, ok := p.Table.At(e.MountPoint)
	return ok && top.ID == e.ID
}

// above returns all that lies on a mount, and whether that is more than maxAlong.
func (p *namespacePlanner) above(id int) (all []hostview.Entry, more bool) {
	queue := []int{id}
	for len(queue) > 0 {
		for _, e := range p.on[queue[0]] {
			if len(all) == maxAlong {
				return all, true
			}
			all = append(all, e)
			queue = append(queue, e.ID)
		}
		queue = queue[1:]
	}
	return all, false
}

// lowerAlong lowers what came along with a mount as well: in one call where
// nothing else lies on it, one by one where another asked mount does.
func (p *namespacePlanner) lowerAlong(c *change) {
	all, more := p.above(c.entry.ID)
	c.whole = true
	for _, e := range all {
		_, asked := p.asked[e.ID]
		c.whole = c.whole && !asked
	}
	if c.whole {
		return
	}
	own := p.own(c.index)
	for _, e := range all {
		if !own[e.ID] || !e.State.Shared() && (c.verb == makeSlave || !e.State.Receives()) {
			continue
		}
		child := change{index: c.index, outcome: c.outcome, entry: e, verb: c.verb}
		if !p.visible(e) {
			child.verb, child.why = cannot, "another mount lies over it, and no path leads to it"
		}
		c.along = append(c.along, child)
	}
	if more {
		p.left(c, fmt.Sprintf("more than %d mounts lie on it: not all of them were lowered", maxAlong))
	}
}

// own returns the mounts that came along with the mount of an outcome, by id.
func (p *namespacePlanner) own(index int) map[int]bool {
	own := map[int]bool{}
	for _, stray := range p.Located.Rest {
		if stray.On == index {
			own[stray.Entry.ID] = true
		}
	}
	return own
}

// raiseAlong raises what came along with a mount as well. A mount is not raised
// where the container has another thing mounted on it than the host has there:
// the host's unmount would take that away.
func (p *namespacePlanner) raiseAlong(c *change) {
	all, more := p.above(c.entry.ID)
	if more {
		*c = c.unsure("more than %d mounts lie on it", maxAlong)
		return
	}
	own := p.own(c.index)
	for _, e := range all {
		rest, ok := facts.Below(e.MountPoint, c.entry.MountPoint)
		if !ok || !p.visible(e) {
			continue
		}
		path := facts.JoinRoot(c.source, rest)
		host, err := p.Lookup(path)
		if err != nil || host.MountPoint != host.Canonical {
			continue // the host has no mount there that could be unmounted
		}
		if host.Identity() != e.Identity() {
			c.verb, c.why = cannot, fmt.Sprintf("the container has %s %s at %s and the host %s %s: its unmount there would take the container's away", e.Device, e.Root, e.MountPoint, host.Device, host.Root)
			c.along = nil
			return
		}
		if !own[e.ID] {
			continue
		}
		s := sight{decided: facts.Slave, seen: e.State, host: &host.State}
		if do, why := s.verb(); do != keep {
			c.along = append(c.along, change{index: c.index, outcome: c.outcome, entry: e, verb: do, why: why, source: host.Canonical})
		}
	}
}

func (p *namespacePlanner) left(c *change, message string) {
	p.findings = append(p.findings, facts.Finding{Code: "submount-left", Mount: c.destination(), Message: message})
}
