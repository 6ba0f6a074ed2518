package main

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/containerd/nri/pkg/api"
)

// state is what the daemon tells of itself: in its status, to systemd and to
// probes. Handlers write it and never wait for who reads.
type state struct {
	began time.Time

	// Since began; none of them goes back.
	decisions atomic.Uint64 // creations that were answered
	refusals  atomic.Uint64 // creations and starts that were answered with an error
	would     atomic.Uint64 // ... that a policy in enforce mode would have refused
	missed    atomic.Uint64 // containers that were created while we were away
	late      atomic.Uint64 // handlers that reached our deadline
	panics    atomic.Uint64 // handlers and works in the background that panicked

	last atomic.Int64 // when the last creation was answered, in Unix nanoseconds; 0: none was

	changed chan struct{} // something that people are told of is another

	mu   sync.Mutex // held for moments: nothing is waited for under it
	link link
	// rejected is why the configured policy is not in force; nil where it is.
	rejected error
}

// link is the connection to the runtime as it is now.
type link struct {
	connected bool      // the runtime has configured us
	synced    bool      // it has synchronized us as well: we take part in requests
	since     time.Time // of the last change of connected
	why       string    // while not connected: what came of the last attempt

	pid     int // of the runtime; 0: not known
	runtime string
	version string
	nri     string        // version of the runtime's NRI, "" where it tells none
	timeout time.Duration // for a request; 0: the runtime tells none
	events  api.EventMask // what we have subscribed to
}

func newState(now time.Time) *state {
	return &state{
		began: now, changed: make(chan struct{}, 1),
		link: link{since: now, why: "no attempt to connect has ended yet"},
	}
}

// news says that something is another; nobody is waited for.
func (s *state) news() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// decided counts a creation that was answered.
func (s *state) decided(now time.Time) {
	s.decisions.Add(1)
	s.last.Store(now.UnixNano())
}

// lastDecision returns when the last creation was answered, and false where none
// was.
func (s *state) lastDecision() (time.Time, bool) {
	ns := s.last.Load()
	return time.Unix(0, ns), ns != 0
}

// configured notes that the runtime has taken us.
func (s *state) configured(l link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.connected, l.synced, l.why = true, false, ""
	s.link = l
	s.news()
}

// synchronized notes that the runtime sends us its requests from now on.
func (s *state) synchronized() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.link.synced = s.link.connected
	s.news()
}

// disconnected notes the end of a connection, or of an attempt to have one. What
// was known of the runtime stays.
func (s *state) disconnected(now time.Time, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.link
	if was.connected {
		s.link.since = now
	}
	s.link.connected, s.link.synced = false, false
	if why != nil {
		s.link.why = why.Error()
	}
	if was.connected || was.why != s.link.why { // attempts come several a second
		s.news()
	}
}

// connection returns the connection as it is now.
func (s *state) connection() link {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.link
}

// judged notes what came of the last attempt to load the configured policy: nil
// where it is in force.
func (s *state) judged(rejected error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rejected = rejected
}

// mistakes returns why the configured policy is not in force, nil where it is.
func (s *state) mistakes() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rejected
}
