package audit

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// nowhere takes nothing.
type nowhere struct{}

func (nowhere) Write([]byte) (int, error) { return 0, errors.New("nowhere") }

// TestRecordThen: who asks what became of a record is told once, and of one that
// is there only when it is.
func TestRecordThen(t *testing.T) {
	event := Decision{Container: Container{ID: "c1"}}
	for _, test := range []struct {
		name  string
		make  func(*bytes.Buffer) *Trail
		taken bool
	}{
		{"written", func(b *bytes.Buffer) *Trail {
			return start([]*destination{{sink: textSink{b}}}, time.Now)
		}, true},
		{"written in one place of two", func(b *bytes.Buffer) *Trail {
			return start([]*destination{{sink: textSink{nowhere{}}}, {sink: textSink{b}}}, time.Now)
		}, true},
		{"lost", func(*bytes.Buffer) *Trail {
			return start([]*destination{{sink: textSink{nowhere{}}}}, time.Now)
		}, false},
		{"too late", func(b *bytes.Buffer) *Trail {
			trail := start([]*destination{{sink: textSink{b}}}, time.Now)
			if err := trail.Close(context.Background()); err != nil {
				t.Fatal(err)
			}
			return trail
		}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var b bytes.Buffer
			trail := test.make(&b)
			told := make(chan bool, 2)
			trail.RecordThen(event, func(taken bool) {
				if taken && b.Len() == 0 {
					t.Error("told of a record that is not there yet")
				}
				told <- taken
			})
			if err := trail.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := <-told; got != test.taken || len(told) != 0 {
				t.Errorf("taken %t, want %t; told %d times more", got, test.taken, len(told))
			}
		})
	}
}

// TestSettle: who waits for what was recorded waits until it is there, and no
// longer than it has time for, nor for a trail that is closed or full.
func TestSettle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := &gateSink{open: make(chan struct{})}
		trail := start([]*destination{{sink: gate}}, time.Now)
		trail.Record(Decision{Container: Container{ID: "c1"}})
		begun := time.Now()
		brief, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if trail.Settle(brief); time.Since(begun) != time.Second || len(gate.records()) != 0 {
			t.Errorf("waited %s, %d records", time.Since(begun), len(gate.records()))
		}
		settled := make(chan struct{})
		go func() { trail.Settle(t.Context()); close(settled) }()
		synctest.Wait()
		select {
		case <-settled:
			t.Error("did not wait")
		default:
		}
		close(gate.open)
		if <-settled; len(gate.records()) != 1 {
			t.Errorf("%d records, want one", len(gate.records()))
		}
		closeTrail(t, trail)
		trail.Settle(t.Context())
		if c := trail.Counts(); c.Lost != 0 || c.Sent != 1 {
			t.Errorf("%+v", c)
		}
	})
}

func TestNobodyWaitsForATrailThatIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := &gateSink{open: make(chan struct{})}
		trail := start([]*destination{{sink: gate}}, time.Now)
		for range queueRecords + 2 {
			trail.Logger().Info("line")
		}
		synctest.Wait()
		trail.Settle(t.Context())
		close(gate.open)
		closeTrail(t, trail)
	})
}
