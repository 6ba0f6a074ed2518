package audit

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/mountward/mountward/pkg/internal/words"
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
	counts    counts
	taking    atomic.Pointer[time.Time] // since when a record is being written; nil: none is
	abandoned atomic.Bool               // Close's time is over: what is left is lost
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
func (t *Trail) Record(event Event) { t.RecordThen(event, nil) }

// RecordThen is Record, and calls told once, when the record was given to every
// destination (taken: to one at least, or to what keeps it for the journal), or
// lost. What depends on the record being there waits for that: the process may
// be killed before. told runs where records are written, and must not wait for
// any.
func (t *Trail) RecordThen(event Event, told func(taken bool)) {
	r := t.prepare(event)
	r.told = told
	entry := t.logger.WithField(eventKey, r)
	if level := r.priority.level(); t.logger.IsLevelEnabled(level) {
		entry.Log(level, r.message)
		return
	}
	t.enqueue(r) // the level of the log is no reason to lose an event
}

// Settle waits until what was recorded before it is written, kept for the journal,
// or lost, and no longer than ctx lasts.
func (t *Trail) Settle(ctx context.Context) {
	settled := make(chan struct{})
	if !t.marked(record{mark: settled}) {
		return // it is closed, or so much waits that nobody can wait for it
	}
	select {
	case <-settled:
	case <-ctx.Done():
	}
}

func (t *Trail) marked(r record) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.closed {
		return false
	}
	select {
	case t.queue <- r:
		return true
	default:
		return false
	}
}

// prepare renders an event, or copies it where that is for later.
func (t *Trail) prepare(event Event) record {
	if l, ok := event.(later); ok {
		copied, size := l.copied()
		return record{time: t.now(), priority: prioInfo, later: copied, held: size}
	}
	return t.layouts.newRecord(event, t.now())
}

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
		return fmt.Errorf("close audit trail with %s unwritten: %w", words.Count(left, "queued record"), ctx.Err())
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
	if !t.queued(r) {
		r.tell(false)
	}
}

func (t *Trail) queued(r record) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	size := r.size()
	if held := t.held.Add(size); !t.closed && (held <= queueBytes || held == size) {
		select {
		case t.queue <- r:
			return true
		default:
		}
	}
	t.held.Add(-size)
	t.overflow.Add(1)
	t.counts.lost.Add(1)
	return false
}

func (t *Trail) run() {
	defer close(t.done)
	again := time.NewTimer(0)
	defer again.Stop()
	for open := true; open; {
		var r record
		select {
		case r, open = <-t.queue:
			if open {
				t.take(r)
			}
		case <-again.C:
		}
		if wait, more := t.resend(); more {
			again.Reset(wait)
		}
	}
	t.finish()
	// Nothing is left that could tell of an error here.
	_ = closeAll(t.destinations)
}

// finish sends what waits as long as the journal takes it; the rest is for the
// next process, and so is what was lost.
func (t *Trail) finish() {
	for _, d := range t.destinations {
		if j, ok := d.sink.(*journalSink); ok {
			j.hurry()
		}
	}
	for !t.abandoned.Load() {
		if wait, more := t.resend(); !more || wait > 0 {
			break
		}
	}
	for _, d := range t.destinations {
		if j, ok := d.sink.(*journalSink); ok && j.spool != nil && d.missed > 0 {
			_ = j.keep(lossRecord(d, t.now()), true) // it is over; nobody is left to tell
		}
	}
}

// take takes one record out of the queue.
func (t *Trail) take(r record) {
	if r.mark != nil {
		close(r.mark)
		return
	}
	t.held.Add(-r.size())
	if t.abandoned.Load() {
		t.counts.lost.Add(1)
		r.tell(false)
		return
	}
	begun := t.now()
	t.taking.Store(&begun)
	defer t.taking.Store(nil)
	told := r
	if r.later != nil {
		r = t.render(r)
	}
	told.tell(t.deliver(r))
}

// render makes the record of an event that was copied. A panic in it must not
// end the trail: it is recorded in its place.
func (t *Trail) render(r record) (rendered record) {
	defer func() {
		if why := recover(); why != nil {
			crash, _ := Crash{
				Handler: fmt.Sprintf("record of %T", r.later),
				Panic:   fmt.Sprint(why), Stack: string(debug.Stack()),
			}.copied()
			rendered = t.layouts.newRecord(crash, r.time)
		}
	}()
	return t.layouts.newRecord(r.later, r.time)
}

// deliver writes one record everywhere, and returns whether one destination at
// least has it or keeps it. One that begins to fail is told of to the others.
func (t *Trail) deliver(r record) (taken bool) {
	overflow := t.overflow.Swap(0)
	worst := written
	var fallen []*destination
	for _, d := range t.destinations {
		if overflow > 0 {
			d.missed, d.why = d.missed+overflow, nil
		}
		f, fell := d.put(r, t.now())
		worst, taken = max(worst, f), taken || f < lost
		if fell {
			fallen = append(fallen, d)
		}
	}
	t.counts.add(worst, 1)
	t.counts.losing.Store(worst == lost)
	for _, from := range fallen {
		t.tell(failureRecord(from, t.now()), from)
	}
	return taken
}

// tell tells the destinations that are well of what another one does.
func (t *Trail) tell(r record, of *destination) {
	for _, to := range t.destinations {
		if to != of && to.failed == nil {
			// What fails here shows with the next record.
			_ = to.write(r)
		}
	}
}

// resend sends what waits in the spool. It returns when to do so again, false
// where nothing waits.
func (t *Trail) resend() (wait time.Duration, more bool) {
	waiting := 0
	for _, d := range t.destinations {
		j, ok := d.sink.(*journalSink)
		if !ok || j.spool == nil {
			continue
		}
		t.account(d, j.resend())
		if due, again := j.due(); again && (!more || due < wait) {
			wait, more = due, true
		}
		waiting += j.spool.waiting()
	}
	t.counts.waiting.Store(int64(waiting))
	return wait, more
}

// account counts what came of resending, and says what was lost and that the
// journal is back.
func (t *Trail) account(d *destination, done resent) {
	t.counts.add(written, done.sent)
	t.counts.add(lost, done.lost)
	if done.blind != nil {
		t.tell(blindRecord(d, done.blind, t.now()), nil)
	}
	if done.lost > 0 {
		d.missed, d.why = d.missed+done.lost, done.why
	}
	if done.backed > 0 {
		d.state, d.failed = written, nil
		back := backRecord(d, done.backed, t.now())
		_ = d.write(back) // what fails here shows with the next record
		t.tell(back, d)
		d.confess(t.now())
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
