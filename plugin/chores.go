package main

import (
	"context"
	"sync"
	"time"

	"github.com/mountward/mountward/pkg/hostview"
)

// maxChores bounds what may wait to be done; every one holds a record.
const maxChores = 256

// tableTime bounds how long a chore waits for the runtime's table.
const tableTime = 5 * time.Second

// chores are done one after the other and nothing waits for them: what needs
// the runtime's whole mount table, which is stale after every mount.
type chores struct {
	view  *hostview.View
	queue chan func(context.Context)

	mu     sync.Mutex
	closed bool

	next time.Time // before which the table is not read again; of run alone
}

func newChores(view *hostview.View) *chores {
	return &chores{view: view, queue: make(chan func(context.Context), maxChores)}
}

// add leaves something to be done. It returns false where there is no room, or
// nobody to do it any more.
func (c *chores) add(chore func(context.Context)) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	select {
	case c.queue <- chore:
		return true
	default:
		return false
	}
}

// run does chores until ctx ends, and then those that are left, with a context
// that is over: no record is lost, and none waits.
func (c *chores) run(ctx context.Context, safely func(func())) {
	for {
		select {
		case chore := <-c.queue:
			safely(func() { chore(ctx) })
		case <-ctx.Done():
			c.mu.Lock()
			c.closed = true
			close(c.queue)
			c.mu.Unlock()
			for chore := range c.queue {
				safely(func() { chore(ctx) })
			}
			return
		}
	}
}

// table returns the runtime's table, for chores only. Reading it anew takes at
// most a tenth of a processor, so that a node with many mounts and many starts
// is not kept busy with it; what waits meanwhile shares the next reading.
func (c *chores) table(ctx context.Context) (*hostview.Table, error) {
	if t, ok := c.view.TableNow(); ok {
		return t, nil
	}
	select {
	case <-time.After(time.Until(c.next)):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	ctx, cancel := context.WithTimeout(ctx, tableTime)
	defer cancel()
	begun := time.Now()
	t, err := c.view.Table(ctx)
	c.next = time.Now().Add(10 * time.Since(begun))
	return t, err
}
