package audit

import (
	"sync/atomic"
	"time"
)

// Counts are the numbers of records, events and lines of the log, since the
// trail began. Nothing is in two of them but a record that one destination lost
// and another one got later.
type Counts struct {
	Sent    uint64 // taken by every destination
	Lost    uint64 // to at least one destination
	Skipped uint64 // lines of the log below warning while the journal was away
	Waiting uint64 // in the spool now, also from an earlier process
	// Losing: the last record was lost to at least one destination, or one
	// destination has been taking a record for so long that those behind it are
	// going to be.
	Losing bool
}

type counts struct {
	sent, lost, skipped atomic.Uint64
	waiting             atomic.Int64
	losing              atomic.Bool
}

func (c *counts) add(f fate, n uint64) {
	switch f {
	case written:
		c.sent.Add(n)
	case skipped:
		c.skipped.Add(n)
	case lost:
		c.lost.Add(n)
	case waits: // it counts when it is sent
	}
}

// Counts returns what became of the records so far.
func (t *Trail) Counts() Counts {
	return Counts{
		Sent: t.counts.sent.Load(), Lost: t.counts.lost.Load(),
		Skipped: t.counts.skipped.Load(), Waiting: uint64(t.counts.waiting.Load()),
		Losing: t.counts.losing.Load() || t.hangs(),
	}
}

// hangTime is for how long no destination that works takes one record.
const hangTime = 10 * time.Second

// hangs reports that a destination does not answer, such as a file on a server
// that is dead.
func (t *Trail) hangs() bool {
	since := t.taking.Load()
	return since != nil && t.now().Sub(*since) > hangTime
}

// Stats returns how many records every destination took, and how many were lost
// to at least one. It counts log lines too.
func (t *Trail) Stats() (sent, lost uint64) { return t.counts.sent.Load(), t.counts.lost.Load() }
