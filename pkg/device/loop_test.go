package device

import (
	"errors"
	"fmt"
	"sync"
	"testing"
)

func TestALoopThatDoesNotAnswerIsNotWaitedForAndNotAskedAgain(t *testing.T) {
	release, asked := make(chan struct{}), make(chan string, 8)
	l := &Loops{ask: func(name string) (LoopStatus, error) {
		asked <- name
		if name == "loop0" {
			<-release
		}
		return LoopStatus{File: number(8, 0)}, nil
	}}
	if _, err := l.Status("loop0"); !errors.Is(err, errLoopSlow) {
		t.Errorf("the first: %v", err)
	}
	if _, err := l.Status("loop0"); !errors.Is(err, errLoopStuck) {
		t.Errorf("the second: %v", err)
	}
	if s, err := l.Status("loop1"); err != nil || s.File != number(8, 0) {
		t.Errorf("another: %+v %v", s, err)
	}
	if len(asked) != 2 {
		t.Errorf("asked %d times", len(asked))
	}
	done := l.open["loop0"].done
	close(release)
	<-done
	if s, err := l.Status("loop0"); err != nil || s.File != number(8, 0) {
		t.Errorf("the server is back: %+v %v", s, err)
	}
	if len(l.open) != 0 {
		t.Errorf("%d requests are kept", len(l.open))
	}
}

func TestStuckLoopsAreBounded(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	l := &Loops{ask: func(string) (LoopStatus, error) { <-release; return LoopStatus{}, nil }}
	var all sync.WaitGroup
	for i := range maxLoops {
		all.Go(func() {
			if _, err := l.Status(fmt.Sprintf("loop%d", i)); !errors.Is(err, errLoopSlow) {
				t.Errorf("loop%d: %v", i, err)
			}
		})
	}
	all.Wait()
	if _, err := l.Status("loop99"); !errors.Is(err, errLoopFull) {
		t.Errorf("one more: %v", err)
	}
}

func TestALoopsErrorIsTold(t *testing.T) {
	fails := errors.New("no such device")
	l := &Loops{ask: func(string) (LoopStatus, error) { return LoopStatus{}, fails }}
	for range 2 {
		if _, err := l.Status("loop0"); !errors.Is(err, fails) {
			t.Errorf("%v", err)
		}
	}
}

func TestWithoutSomebodyToAskALoopCannotBeTold(t *testing.T) {
	f := newFixture(t, "7:0 loop0 file=/x")
	c, err := FS{Sys: f.sys}.Chain(number(7, 0))
	if err != nil || c.Answer().Truth.String() != "unknown" {
		t.Errorf("%+v %v", c.Answer(), err)
	}
}
