package apply

import (
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// missing returns a step for each mount that the host has below the source of a
// raised one and the container has not: it was mounted between the container's
// making and its start. Later ones come by themselves, so the host is read first:
// what it has had since before the raise and the container lacks, is missing.
func (w *work) missing(changes []change) []*step {
	var steps []*step
	var host, inside *hostview.Table
	for i := range changes {
		c := &changes[i]
		if c.verb != raise || !c.done {
			continue
		}
		if inside == nil {
			var err error
			if host, err = w.Host.Table(w.ctx); err == nil {
				inside, err = w.Process.Table()
			}
			if err != nil {
				c.missing = err
				return steps
			}
		}
		steps = append(steps, w.missingBelow(c, host, inside)...)
	}
	return steps
}

func (w *work) missingBelow(c *change, host, inside *hostview.Table) (steps []*step) {
	covered := ""
	for _, e := range host.Below(c.source) {
		rest, _ := facts.Below(e.MountPoint, c.source)
		if covered != "" && facts.Within(e.MountPoint, covered) {
			continue // it comes with the mount that it lies on
		}
		at := facts.JoinRoot(c.entry.MountPoint, rest)
		if _, ok := inside.At(at); ok {
			continue
		}
		on, ok := inside.Covering(at)
		if !ok || on.State.Master == 0 || len(steps) == maxAlong {
			continue // on a mount that does not follow the host nothing is added
		}
		below, ok := facts.Below(at, on.MountPoint)
		if !ok {
			continue
		}
		covered = e.MountPoint
		added := &change{index: c.index, outcome: c.outcome, entry: on, verb: raise, source: e.MountPoint}
		c.added = append(c.added, added)
		file, err := w.open(e.MountPoint)
		if err != nil {
			added.err = err
			continue
		}
		steps = append(steps, &step{change: added, file: file, below: below, added: &e})
	}
	return steps
}
