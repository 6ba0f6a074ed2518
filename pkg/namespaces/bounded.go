package namespaces

import (
	"context"
	"errors"
	"time"
)

// maxWait bounds what only the kernel is asked: for a table of 50,000 mounts it
// takes parts of a second, and more while others mount.
const maxWait = 30 * time.Second

var errLate = errors.New("no answer in time")

// bounded waits for do until the context ends or maxWait is over. What comes
// later is given to late, where that is not nil.
func bounded[T any](ctx context.Context, do func() (T, error), late func(T)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	done, left := make(chan answer), make(chan struct{})
	go func() {
		value, err := do()
		select {
		case done <- answer{value, err}:
		case <-left:
			if late != nil && err == nil {
				late(value)
			}
		}
	}()
	timer := time.NewTimer(maxWait)
	defer timer.Stop()
	var none T
	select {
	case a := <-done:
		return a.value, a.err
	case <-ctx.Done():
		close(left)
		return none, ctx.Err()
	case <-timer.C:
		close(left)
		return none, errLate
	}
}
