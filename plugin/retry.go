package main

import (
	"math/rand/v2"
	"time"
)

// How long to wait before the next attempt to connect. To find nobody listening
// costs nothing and is tried often: every container that is created before we
// are back is not ours. To register stops all container operations of the node
// for a moment, so it is never tried in a tight loop.
const (
	dialPause  = 200 * time.Millisecond
	firstPause = time.Second
	lastPause  = 30 * time.Second
	// lasting is how long a connection must hold to count as one; so many in a
	// row that do not, as while a runtime is being restarted, cost no more than
	// dialPause each.
	lasting      = time.Minute
	quickReturns = 5
)

// outcome is how an attempt to be connected ended.
type outcome int

const (
	unreachable  outcome = iota // nobody listens: nothing was registered
	unregistered                // it ended before we were synchronized
	served                      // we were connected, and are no longer
)

// retry decides about the next attempt.
type retry struct {
	pause  time.Duration // after the next failed registration; 0 is firstPause
	short  int           // connections in a row that did not last
	peer   int           // process that listened last
	silent time.Time     // until then another "nobody listens" is no news
}

// after returns how long to wait after an attempt, and whether its end is worth
// telling. held is how long the connection was there, peer the runtime's process:
// what one dropped or refused says nothing about another.
func (r *retry) after(o outcome, peer int, held time.Duration, now time.Time) (pause time.Duration, news bool) {
	if o == unreachable {
		if now.Before(r.silent) {
			return dialPause, false
		}
		r.silent = now.Add(lastPause)
		return dialPause, true
	}
	r.silent = time.Time{}
	if peer != r.peer {
		r.peer, r.short, r.pause = peer, 0, 0
	}
	if o == served {
		if r.short++; held >= lasting {
			r.short = 0
		}
		if r.short <= quickReturns {
			r.pause = 0
			return dialPause, true
		}
	}
	pause = max(r.pause, firstPause)
	r.pause = min(2*pause, lastPause)
	return pause, true
}

// jitter spreads a pause, so that many nodes do not register in step.
func jitter(pause time.Duration) time.Duration { return pause/2 + rand.N(pause) }
