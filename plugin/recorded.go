package main

import (
	"sync"

	"github.com/mountward/mountward/pkg/audit"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/ledger"
)

// Being killed between the creation of a container and the record of its start
// must not lose the container: whoever comes next finds an entry of the ledger
// without its mark. A container that still runs then gets its task record late,
// from another one the record of its creation says that its start was not seen.

// codeUnseen marks what is recorded later than it happened.
const codeUnseen = "start-unseen"

// inHand are the containers whose start this process is about to record: it
// draws the map of a task while the container goes on, and may even end.
type inHand struct {
	mu  sync.Mutex
	ids map[string]bool
}

func (h *inHand) take(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ids == nil {
		h.ids = map[string]bool{}
	}
	h.ids[id] = true
}

func (h *inHand) drop(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.ids, id)
}

func (h *inHand) has(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ids[id]
}

// unseen reports whether nobody recorded the start of a container, or is about
// to.
func (d *daemon) unseen(e ledger.Entry) bool {
	return !e.Recorded && !d.inHand.has(e.Container.ID)
}

// recordStart records the start of a container, and notes that once the record
// is there.
func (d *daemon) recordStart(event audit.Task) {
	id := event.Container.ID
	d.trail.Load().RecordThen(event, func(taken bool) {
		defer d.inHand.drop(id)
		if taken {
			d.markRecorded(id)
		}
	})
}

func (d *daemon) markRecorded(id string) {
	if err := d.ledger().MarkRecorded(id); err != nil {
		d.log().WithError(err).Warn("cannot note that a start was recorded; it will be recorded again")
	}
}

// recordLate records a container that was proved to run, and that nobody
// recorded when it started.
func (p *plugin) recordLate(x *examination) {
	x.found(codeUnseen, "the container started while mountward was away or ended; its mounts were compared only now")
	p.recordTask(x, p.daemon.force.Load())
}

// recordUnseen records a container that is gone, or that is about to be, and
// whose start nobody recorded, and forgets it once the record is there.
func (d *daemon) recordUnseen(e ledger.Entry, why string) {
	id := e.Container.ID
	d.trail.Load().RecordThen(audit.Decision{
		Container: audit.ContainerOf(e.Container),
		Policy:    audit.Policy{Name: e.PolicyName, SHA256: e.PolicySHA256, Mode: e.Mode},
		Outcomes:  e.Outcomes,
		Findings:  []facts.Finding{{Code: codeUnseen, Message: why}},
	}, func(taken bool) {
		if taken {
			d.forgotten(id)
		}
	})
}

// ending is what is known of a container's life when it is removed.
type ending struct {
	ran     facts.Truth // whether it started, as the runtime tells
	runtime string      // which (hostview.RuntimeIdentity)
	never   bool        // we know that it did not
}

// removed records what is still missing of a container, and forgets it.
//
// A runtime that was killed while it started a container lists it as created
// (containerd 2.4.2, internal/cri/server/restart.go). So only the one that created a
// container, and not one that was started anew since, can tell that it never ran.
func (d *daemon) removed(id string, r ending) {
	e, ok, err := d.ledger().Get(id)
	if err != nil || !ok || !d.unseen(e) {
		d.forgotten(id)
		return
	}
	switch {
	case r.ran == facts.Yes:
		d.recordUnseen(e, "the container started and ended, and nobody saw it start (mountward was away, ended, stood aside or was too late): its mounts were not compared")
	case r.never:
		d.forgotten(id)
	case r.ran == facts.Unknown:
		d.recordUnseen(e, "the container ended, nobody saw it start, and this runtime does not tell whether it did: whether its own code ran cannot be told")
	case r.runtime == "" || e.Runtime != r.runtime:
		d.recordUnseen(e, "the runtime knows of no start, and may have been started anew since the container was created: whether its own code ran cannot be told")
	default:
		d.forgotten(id)
	}
}

// forgotten forgets a container of which nothing is left to record.
func (d *daemon) forgotten(id string) {
	defer d.inHand.drop(id)
	if err := d.ledger().Remove(id); err != nil {
		d.log().WithError(err).Warn("cannot forget a removed container")
	}
}
