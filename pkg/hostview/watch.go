package hostview

import (
	"errors"
	"fmt"
	"time"
)

var errRuntimeGone = errors.New("the runtime's process is gone")

// watch reads the table again when the kernel tells of changes, some time after
// the first of a burst, and ends with the process or the view.
func (c *cache) watch() {
	for {
		event, err := c.watched.Wait(c.waker, c.process)
		switch {
		case err != nil:
			c.fail(fmt.Errorf("watch the runtime's mount table: %w", err))
			return
		case event.Woken:
			return
		case event.Exited:
			c.fail(errRuntimeGone)
			return
		}
		if !c.pause() {
			return
		}
		c.refresh()
		select {
		case c.told <- struct{}{}:
		default: // nobody has asked since the last one
		}
	}
}

// Changed returns what gets a value some time after mounts were added, moved or
// removed in the runtime's namespace, one for many of them: at most one in 100
// ms. It is one channel for all who ask. The kernel never tells of a change of
// propagation alone.
func (v *View) Changed() <-chan struct{} { return v.cache.told }

// pause lets a burst of changes pass. It is long enough that reading takes at
// most a tenth of a processor.
func (c *cache) pause() bool {
	c.mu.Lock()
	wait := max(leastWait, 10*c.last.took)
	c.mu.Unlock()
	select {
	case <-time.After(wait):
		return true
	case <-c.stop:
		return false
	}
}

// refresh reads a stale table again where somebody still asks for it.
func (c *cache) refresh() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last.table != nil && c.notice() == nil && c.last.changes < c.changes {
		c.start()
	}
}

func (c *cache) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone == nil {
		c.gone = err
	}
	c.last = load{}
}
