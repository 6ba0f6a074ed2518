package cli

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/mountward/mountward/pkg/cli/internal/show"
)

// errNoAnswer is of what is not waited for any longer.
var errNoAnswer = errors.New("no answer")

// within asks something that can hang, and leaves it behind when that takes too
// long. With an error of its own the value is what ask returned.
func within[T any](ctx context.Context, most time.Duration, ask func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		value, err := ask()
		answers <- answer{value, err}
	}()
	timer := time.NewTimer(most)
	defer timer.Stop()
	var none T
	select {
	case a := <-answers:
		return a.value, a.err
	case <-timer.C:
		return none, fmt.Errorf("%w in %v", errNoAnswer, most)
	case <-ctx.Done():
		return none, fmt.Errorf("%w: %w", errNoAnswer, ctx.Err())
	}
}

// step says what a verb is about to do, so that there is something to tell if
// that does not end.
type step func(what string)

// bounded does the work of a verb up to its output, which may wait for a reader.
// The work gets a context that ends early enough for what is known by then to
// be told; where something hangs that knows of no context, it is left behind.
func bounded[T any](ctx context.Context, most time.Duration, work func(context.Context, step) (T, error)) (T, error) {
	var now atomic.Value
	now.Store("the beginning")
	inside, cancel := context.WithTimeout(ctx, most-most/10)
	value, err := within(ctx, most, func() (T, error) {
		defer cancel()
		return work(inside, func(what string) { now.Store(what) })
	})
	if errors.Is(err, errNoAnswer) {
		return value, &exit{ExitCannotTell, fmt.Errorf("%s: %w", show.Line(now.Load().(string)), err)}
	}
	return value, err
}
