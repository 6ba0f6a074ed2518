package pins

import (
	"context"
	"errors"
	"time"
)

// patience is how long one process or one file system is waited for.
const patience = 2 * time.Second

var errNoAnswer = errors.New("no answer")

// within asks something that can hang, and leaves it behind when that takes too
// long.
func within[T any](ctx context.Context, ask func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		value, err := ask()
		answers <- answer{value, err}
	}()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	var none T
	select {
	case a := <-answers:
		return a.value, a.err
	case <-timer.C:
		return none, errNoAnswer
	case <-ctx.Done():
		return none, ctx.Err()
	}
}
