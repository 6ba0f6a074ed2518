package audit

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"
)

// The queue holds at most so many records, and so many bytes of them: a journal
// that hangs must not cost the node memory.
const (
	queueRecords = 4096
	queueBytes   = 4 << 20
)

// Trail is the log and the audit trail. It is safe for concurrent use.
type Trail struct {
	logger       *logrus.Logger
	now          func() time.Time
	destinations []*destination
	layouts      layouts

	mu     sync.RWMutex // held to write by Close, so that no record comes after it
	closed bool
	queue  chan record

	held      atomic.Int64  // bytes of the records in the queue
	overflow  atomic.Uint64 // records that found no room, not yet told of
	sent      atomic.Uint64
	lost      atomic.Uint64
	abandoned atomic.Bool // Close's time is over: what is left is lost
	done      chan struct{}
}

// New starts the trail. It fails where the options leave nowhere to write.
func New(o Options) (*Trail, error) {
	destinations, err := o.destinations()
	if err != nil {
		return nil, err
	}
	return start(destinations, o.Now), nil
}

func start(destinations []*destination, now func() time.Time) *Trail {
	if now == nil {
		now = time.Now
	}
	t := &Trail{
		logger:       logrus.New(),
		now:          now,
		destinations: destinations,
		queue:        make(chan record, queueRecords),
		done:         make(chan struct{}),
	}
	t.logger.SetOutput(io.Discard) // the hook writes
	t.logger.SetFormatter(noFormatter{})
	t.logger.AddHook(hook{t})
	t.logger.ExitFunc = t.exit
	go t.run()
	return t
}

// Logger returns the logger whose lines go where the events go.
func (t *Trail) Logger() *logrus.Logger { return t.logger }

// Record records an event. It never waits, and keeps nothing of the event: the
// caller may go on changing what it refers to.
func (t *Trail) Record(event Event) {
	r := t.prepare(event)
	entry := t.logger.WithField(eventKey, r)
	if level := r.priority.level(); t.logger.IsLevelEnabled(level) {
		entry.Log(level, r.message)
		return
	}
	t.enqueue(r) // the level of the log is no reason to lose an event
}

// prepare renders an event, or copies it where that is for later.
func (t *Trail) prepare(event Event) record {
	if l, ok := event.(later); ok {
		copied, size := l.copied()
		return record{time: t.now(), priority: prioInfo, later: copied, held: size}
	}
	return t.layouts.newRecord(event, t.now())
}

// Stats returns how many records every destination took, and how many were lost
// to at least one. It counts log lines too.
func (t *Trail) Stats() (sent, lost uint64) { return t.sent.Load(), t.lost.Load() }

// Destinations names where the trail goes: "journal /run/...", "file /var/...".
func (t *Trail) Destinations() []string {
	var names []string
	for _, d := range t.destinations {
		names = append(names, d.String())
	}
	return names
}

// Close writes what is in the queue and closes the destinations. Records that
// come later are lost. When ctx is over first, so is what was not written yet,
// and Close returns an error.
func (t *Trail) Close(ctx context.Context) error {
	t.mu.Lock()
	if !t.closed {
		t.closed = true
		close(t.queue)
	}
	t.mu.Unlock()
	select {
	case <-t.done:
		return nil
	case <-ctx.Done():
		left := len(t.queue)
		t.abandoned.Store(true)
		return fmt.Errorf("close audit trail with %s unwritten: %w", count(left, "queued record"), ctx.Err())
	}
}

// exit is what Logger().Fatal ends with: its last words must get out.
func (t *Trail) exit(code int) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	_ = t.Close(ctx)
	cancel()
	os.Exit(code)
}

func (t *Trail) enqueue(r record) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	size := r.size()
	if held := t.held.Add(size); !t.closed && (held <= queueBytes || held == size) {
		select {
		case t.queue <- r:
			return
		default:
		}
	}
	t.held.Add(-size)
	t.overflow.Add(1)
	t.lost.Add(1)
}

func (t *Trail) run() {
	defer close(t.done)
	for r := range t.queue {
		t.held.Add(-r.size())
		if t.abandoned.Load() {
			t.lost.Add(1)
			continue
		}
		if r.later != nil {
			r = t.layouts.newRecord(r.later, r.time)
		}
		t.deliver(r)
	}
	// Nothing is left that could tell of an error here.
	_ = closeAll(t.destinations)
}

// deliver writes one record everywhere. A destination that begins to fail is
// told of to the others.
func (t *Trail) deliver(r record) {
	overflow := t.overflow.Swap(0)
	taken := true
	var fallen []*destination
	for _, d := range t.destinations {
		d.missed += overflow
		err, fell := d.put(r, t.now())
		taken = taken && err == nil
		if fell {
			fallen = append(fallen, d)
		}
	}
	if taken {
		t.sent.Add(1)
	} else {
		t.lost.Add(1)
	}
	for _, from := range fallen {
		for _, to := range t.destinations {
			if to.failed == nil {
				// What fails here shows with the next record.
				_ = to.write(failureRecord(from, t.now()))
			}
		}
	}
}

// hook turns entries into records.
type hook struct{ trail *Trail }

func (hook) Levels() []logrus.Level { return logrus.AllLevels }

func (h hook) Fire(entry *logrus.Entry) error {
	r, ok := entry.Data[eventKey].(record)
	if !ok {
		r = lineRecord(entry)
	}
	h.trail.enqueue(r)
	return nil
}

type noFormatter struct{}

func (noFormatter) Format(*logrus.Entry) ([]byte, error) { return nil, nil }
