package hostview

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mountward/mountward/pkg/internal/linux"
)

// cache holds the runtime's mount table. It is read when somebody asks, read
// again in the background while the kernel tells of changes, and dropped when
// nobody has asked for a while: a node's table can be 10 MB of text.
type cache struct {
	info    *linux.Mountinfo // read by the load that runs, asked for changes under mu
	watched *linux.Mountinfo // waited on by watch
	process *linux.PidFD
	waker   *linux.Waker
	stop    chan struct{}
	told    chan struct{} // one is in it while the table has changed since it was taken out
	work    sync.WaitGroup

	mu      sync.Mutex
	changes uint64 // changes of the table seen so far
	loading chan struct{}
	last    load
	gone    error // why there will be no table any more
	unused  *time.Timer
}

// load is one reading of the table.
type load struct {
	changes uint64 // seen before it began
	begun   time.Time
	took    time.Duration
	table   *Table
	err     error
}

// age says how old a table may be.
type age int

const (
	told   age = iota // no older than the last change the kernel told of
	recent            // and its propagation not older than a few seconds
	now               // read after the question
)

const (
	idle      = 5 * time.Minute // without a question, after which the table is dropped
	leastWait = 100 * time.Millisecond
	leastAge  = time.Second
)

func newCache(path string, process *linux.PidFD) (_ *cache, err error) {
	c := &cache{process: process, stop: make(chan struct{}), told: make(chan struct{}, 1)}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.closeFiles())
		}
	}()
	if c.info, err = linux.OpenMountinfo(path); err != nil {
		return nil, err
	}
	if c.watched, err = linux.OpenMountinfo(path); err != nil {
		return nil, err
	}
	if c.waker, err = linux.NewWaker(); err != nil {
		return nil, err
	}
	c.unused = time.AfterFunc(idle, c.drop)
	c.work.Go(c.watch)
	return c, nil
}

// get returns a table of the age asked for, waiting for one up to ctx.
func (c *cache) get(ctx context.Context, a age) (*Table, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	asked := time.Now()
	c.unused.Reset(idle)
	if err := c.notice(); err != nil {
		return nil, err
	}
	if a == now || a == recent && c.last.old() {
		c.changes++
	}
	for want := c.changes; ; {
		if c.gone != nil {
			return nil, c.gone
		}
		if c.last.err != nil && c.last.begun.After(asked) {
			return nil, c.last.err
		}
		if c.last.changes >= want && c.last.table != nil {
			return c.last.table, nil
		}
		done := c.start()
		c.mu.Unlock()
		var err error
		select {
		case <-done:
		case <-ctx.Done():
			err = fmt.Errorf("wait for the runtime's mount table: %w", ctx.Err())
		}
		c.mu.Lock()
		if err != nil {
			return nil, err
		}
	}
}

// ready returns the table if it is at hand and the kernel has told of no change
// since.
func (c *cache) ready() (*Table, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last.table == nil || c.notice() != nil || c.last.changes < c.changes {
		return nil, false
	}
	c.unused.Reset(idle)
	return c.last.table, true
}

// old reports whether the propagation in the table may be outdated, which the
// kernel never tells. Reading again takes at most a twentieth of a processor.
func (l load) old() bool {
	return time.Since(l.begun) > max(leastAge, 20*l.took)
}

// notice asks the kernel whether the table changed.
func (c *cache) notice() error {
	if c.gone != nil {
		return c.gone
	}
	changed, err := c.info.Changed()
	if changed {
		c.changes++
	}
	return err
}

// start begins a reading unless one runs, and returns what tells its end.
func (c *cache) start() <-chan struct{} {
	if c.loading != nil {
		return c.loading
	}
	done := make(chan struct{})
	c.loading = done
	l := load{changes: c.changes, begun: time.Now()}
	c.work.Go(func() {
		l.table, l.err = c.read()
		l.took = time.Since(l.begun)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.last, c.loading = l, nil
		close(done)
	})
	return done
}

func (c *cache) read() (*Table, error) {
	r, err := c.info.Rewind()
	if err != nil {
		return nil, err
	}
	return readTable(r, false)
}

// drop forgets the table; the next question reads it again.
func (c *cache) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = load{}
}

// close ends the background work. It must be called once.
func (c *cache) close() error {
	c.mu.Lock()
	c.gone = errClosed
	c.mu.Unlock()
	c.unused.Stop()
	close(c.stop)
	err := c.waker.Wake()
	c.work.Wait()
	return errors.Join(err, c.closeFiles())
}

var errClosed = errors.New("the host view is closed")

func (c *cache) closeFiles() error {
	var errs []error
	if c.info != nil {
		errs = append(errs, c.info.Close())
	}
	if c.watched != nil {
		errs = append(errs, c.watched.Close())
	}
	if c.waker != nil {
		errs = append(errs, c.waker.Close())
	}
	return errors.Join(errs...)
}
