package cli

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/mountward/mountward/pkg/cli/internal/show"
	"github.com/mountward/mountward/pkg/internal/wait"
)

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
	value, err := wait.For(ctx, most, func() (T, error) {
		defer cancel()
		return work(inside, func(what string) { now.Store(what) })
	}, nil)
	if errors.Is(err, wait.ErrNoAnswer) {
		return value, &exit{ExitCannotTell, fmt.Errorf("%s: %w", show.Line(now.Load().(string)), err)}
	}
	return value, err
}
