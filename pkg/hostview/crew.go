package hostview

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

const (
	// maxHelpers bounds the goroutines, and so the threads, that can be stuck
	// in file systems at one time.
	maxHelpers = 64
	// maxPatient bounds those among which a patient view begins another: the
	// path of a container's start must find one.
	maxPatient = 48
)

var (
	errStuck   = errors.New("an earlier question is stuck in the same mount")
	errHelpers = fmt.Errorf("its file system would have to be asked, and %d questions are already waiting for theirs", maxHelpers)
)

// crew are the helpers of a view, and of the patient views made from it.
type crew struct {
	mu      sync.Mutex
	helpers map[*helper]struct{}
}

// helper is one goroutine that asks what the kernel has not cached.
type helper struct {
	began     time.Time
	mount     uint64 // where it may be waiting
	abandoned bool   // nobody waits for it any more: it is stuck
	result    chan outcome
}

// outcome is what a helper came back with.
type outcome struct {
	value any // a *os.File of a walk
	err   error
}

func (w *walker) begin() (*helper, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.helpers) >= w.most {
		return nil, errHelpers
	}
	if w.helpers == nil {
		w.helpers = map[*helper]struct{}{}
	}
	h := &helper{began: time.Now(), result: make(chan outcome, 1)}
	w.helpers[h] = struct{}{}
	return h, nil
}

func (c *crew) finish(h *helper, r outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.helpers, h)
	if f, ok := r.value.(*os.File); ok && h.abandoned {
		closeReference(f)
	}
	h.result <- r // it has room for one
}

// abandon marks a helper as stuck, unless it has just come back.
func (c *crew) abandon(h *helper) (outcome, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case r := <-h.result:
		return r, true
	default:
		h.abandoned = true
		return outcome{}, false
	}
}
