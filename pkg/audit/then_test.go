package audit

import (
	"bytes"
	"context"
	"errors"
	"testing"
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
