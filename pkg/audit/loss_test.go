package audit

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestAFullQueueLosesCountsAndSaysSo(t *testing.T) {
	t.Parallel()
	gate := &gateSink{open: make(chan struct{})}
	trail := start([]*destination{{sink: gate}}, nil)
	const sends = queueRecords + 500
	for range sends {
		trail.Logger().Info("line") // returns although nobody takes anything
	}
	_, lost := trail.Stats()
	if lost < 499 || lost > 500 {
		t.Errorf("%d lost, want 499 or 500 (one may be on its way)", lost)
	}
	close(gate.open)
	closeTrail(t, trail)
	sent, after := trail.Stats()
	if sent+after != sends || after != lost {
		t.Errorf("sent %d, lost %d; want %d together and %d lost", sent, after, sends, lost)
	}
	checkSaid(t, gate.records(), lost, "more came than could be written")
}

// TestADestinationThatHangsIsSeen before the queue is full.
func TestADestinationThatHangsIsSeen(t *testing.T) {
	t.Parallel()
	gate := &gateSink{open: make(chan struct{})}
	var late atomic.Int64
	trail := start([]*destination{{sink: gate}}, func() time.Time { return time.Unix(late.Load(), 0) })
	trail.Logger().Info("line")
	waitFor(t, func() bool { return trail.taking.Load() != nil })
	if trail.Counts().Losing {
		t.Error("at once")
	}
	late.Store(11)
	if !trail.Counts().Losing {
		t.Error("not after 11 s")
	}
	close(gate.open)
	closeTrail(t, trail)
	if trail.Counts().Losing {
		t.Error("still, though it was taken")
	}
}

func TestTheQueueHoldsNoMoreBytesThanItMay(t *testing.T) {
	t.Parallel()
	gate := &gateSink{open: make(chan struct{})}
	trail := start([]*destination{{sink: gate}}, nil)
	for range 25 {
		trail.enqueue(record{line: make([]byte, queueBytes/10)})
	}
	if held := trail.held.Load(); held > queueBytes {
		t.Errorf("%d bytes are held, want at most %d", held, queueBytes)
	}
	close(gate.open)
	closeTrail(t, trail)
	if held := trail.held.Load(); held != 0 {
		t.Errorf("%d bytes are held by an empty queue", held)
	}
	// One that is larger than the whole queue goes when the queue is empty.
	gate = &gateSink{open: make(chan struct{})}
	close(gate.open)
	trail = start([]*destination{{sink: gate}}, nil)
	trail.enqueue(record{line: make([]byte, 2*queueBytes)})
	closeTrail(t, trail)
	if sent, lost := trail.Stats(); sent != 1 || lost != 0 {
		t.Errorf("sent %d, lost %d; want the large one sent", sent, lost)
	}
}

func TestAFailingDestinationIsToldOfAndItsLossIsSaid(t *testing.T) {
	t.Parallel()
	bad, good := &gateSink{open: make(chan struct{})}, &gateSink{open: make(chan struct{})}
	close(bad.open)
	close(good.open)
	bad.setFail(errors.New("disk full"))
	trail := start([]*destination{{sink: bad}, {sink: good}}, nil)
	for range 3 {
		trail.Logger().Info("line")
	}
	waitFor(t, func() bool { _, lost := trail.Stats(); return lost == 3 })
	waitFor(t, func() bool { return trail.Counts().Losing })
	bad.setFail(nil)
	trail.Logger().Info("line")
	closeTrail(t, trail)
	if trail.Counts().Losing {
		t.Error("losing still, though the last record was taken")
	}
	if sent, lost := trail.Stats(); sent != 1 || lost != 3 {
		t.Errorf("sent %d, lost %d; want 1 and 3", sent, lost)
	}
	checkSaid(t, bad.records(), 3, "disk full")
	var messages []string
	for _, r := range good.records() {
		messages = append(messages, r.message)
	}
	want := []string{"line", "the trail cannot be written to gate: disk full", "line", "line", "line"}
	if diff := cmp.Diff(want, messages); diff != "" {
		t.Errorf("told to the good destination (-want +got):\n%s", diff)
	}
}

// checkSaid wants exactly one loss record, with the count and the reason.
func checkSaid(t *testing.T, records []record, lost uint64, why string) {
	t.Helper()
	var said []string
	total := uint64(0)
	for _, r := range records {
		var line struct {
			Fields struct {
				Lost uint64 `json:"lost,string"`
			}
		}
		if err := json.Unmarshal(r.line, &line); err != nil {
			t.Fatal(err)
		}
		if line.Fields.Lost > 0 {
			said = append(said, r.message)
			total += line.Fields.Lost
		}
	}
	if len(said) != 1 || total != lost || !strings.Contains(said[0], why) {
		t.Errorf("said %q, %d in all; want %d lost, because %q", said, total, lost, why)
	}
}

func TestCloseGivesUpWhenItsTimeIsOver(t *testing.T) {
	t.Parallel()
	gate := &gateSink{open: make(chan struct{})}
	trail := start([]*destination{{sink: gate}}, nil)
	for range 5 {
		trail.Logger().Info("line")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := trail.Close(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Close: %v, want it to say that its time was over", err)
	}
	trail.Logger().Info("after")
	close(gate.open)
	<-trail.done
	if sent, lost := trail.Stats(); sent+lost != 6 || lost < 5 {
		t.Errorf("sent %d, lost %d; want every record accounted for", sent, lost)
	}
	closeTrail(t, trail) // once more does no harm
}

type brokenEvent struct {
	C chan int `json:"c"`
}

func (brokenEvent) describe() description {
	return description{kind: kindTask(), message: "still said", priority: prioInfo}
}

func TestAnEventThatCannotBeEncodedGoesOutAndSaysSo(t *testing.T) {
	t.Parallel()
	got := new(layouts).newRecord(brokenEvent{}, noon())
	if diff := cmp.Diff([]string{"still said"}, values(got.fields, "MESSAGE")); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
	if len(values(got.fields, "MOUNTWARD_ERROR")) != 1 || !json.Valid(got.line) {
		t.Errorf("fields %q, want an error and a valid record", got.fields)
	}
}

// waitFor returns once a condition holds, and fails the test if it never does.
func waitFor(t *testing.T, holds func() bool) {
	t.Helper()
	for range 3000 {
		if holds() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("waited in vain")
}
