package wait

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestAnAnswerComesWithItsError(t *testing.T) {
	broken := errors.New("broken")
	got, err := For(t.Context(), time.Minute, func() (int, error) { return 3, broken }, func(int) { t.Error("it was not late") })
	if got != 3 || !errors.Is(err, broken) || errors.Is(err, ErrNoAnswer) {
		t.Errorf("%d, %v", got, err)
	}
}

func TestWhatHangsIsLeftBehindAndItsAnswerIsGivenAway(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, test := range map[string]struct {
		ctx  context.Context
		most time.Duration
		also error
	}{
		"its time is over":    {t.Context(), time.Millisecond, ErrNoAnswer},
		"the context is over": {ended, time.Minute, context.Canceled},
	} {
		release, late := make(chan struct{}), make(chan int, 1)
		got, err := For(test.ctx, test.most, func() (int, error) {
			<-release
			return 7, nil
		}, func(n int) { late <- n })
		if got != 0 || !errors.Is(err, ErrNoAnswer) || !errors.Is(err, test.also) {
			t.Errorf("%s: %d, %v", name, got, err)
		}
		close(release)
		if n := <-late; n != 7 {
			t.Errorf("%s: %d came late", name, n)
		}
	}
}

func TestAnErrorThatComesLateIsGivenToNobody(t *testing.T) {
	release, ended := make(chan struct{}), make(chan struct{})
	_, err := For(t.Context(), time.Millisecond, func() (int, error) {
		defer close(ended)
		<-release
		return 7, errors.New("broken")
	}, func(int) { t.Error("there is nothing to close") })
	if !errors.Is(err, ErrNoAnswer) {
		t.Error(err)
	}
	close(release)
	<-ended
	if _, err := For(t.Context(), time.Millisecond, func() (int, error) { select {} }, nil); !errors.Is(err, ErrNoAnswer) {
		t.Error(err)
	}
}
