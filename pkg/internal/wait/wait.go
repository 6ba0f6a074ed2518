// Package wait asks what can hang, and waits for the answer only so long.
package wait

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrNoAnswer matches the error of what is not waited for any longer.
var ErrNoAnswer = errors.New("no answer")

// For asks in a goroutine of its own and leaves it behind when that takes longer
// than most, or than ctx. Its value comes with the error of ask. What an ask
// that was left behind returns without an error in the end is given to late,
// where that is not nil, so that it can be closed.
func For[T any](ctx context.Context, most time.Duration, ask func() (T, error), late func(T)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	answers, left := make(chan answer), make(chan struct{})
	go func() {
		value, err := ask()
		select {
		case answers <- answer{value, err}:
		case <-left:
			if late != nil && err == nil {
				late(value)
			}
		}
	}()
	timer := time.NewTimer(most)
	defer timer.Stop()
	var none T
	select {
	case a := <-answers:
		return a.value, a.err
	case <-timer.C:
		close(left)
		return none, fmt.Errorf("%w in %v", ErrNoAnswer, most)
	case <-ctx.Done():
		close(left)
		return none, fmt.Errorf("%w: %w", ErrNoAnswer, ctx.Err())
	}
}
