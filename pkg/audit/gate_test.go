package audit

import (
	"context"
	"sync"
	"testing"
	"time"
)

// open returns a trail that is closed when the test ends.
func open(t *testing.T, o Options) *Trail {
	t.Helper()
	trail, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeTrail(t, trail) })
	return trail
}

func closeTrail(t *testing.T, trail *Trail) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := trail.Close(ctx); err != nil {
		t.Error(err)
	}
}

// gateSink takes records once it is open, and answers fail while that is set.
type gateSink struct {
	open  chan struct{}
	mu    sync.Mutex
	fail  error
	taken []record
}

func (s *gateSink) write(r record) error {
	<-s.open
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail == nil {
		s.taken = append(s.taken, r)
	}
	return s.fail
}
func (s *gateSink) close() error   { return nil }
func (s *gateSink) String() string { return "gate" }

func (s *gateSink) setFail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = err
}

func (s *gateSink) records() []record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]record(nil), s.taken...)
}
