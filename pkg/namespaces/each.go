package namespaces

import (
	"context"
	"sync"

	"github.com/mountward/mountward/pkg/hostview"
)

// Each reads the tables of all namespaces, by so many workers, and hands each
// one on together with the error of Table. Of the tables there are never more
// in memory than workers; visit is called by one at a time.
func (c *Census) Each(ctx context.Context, workers int, visit func(*Namespace, *hostview.Table, error)) {
	c.each(ctx, c.Namespaces, workers, visit)
}

func (c *Census) each(ctx context.Context, list []*Namespace, workers int, visit func(*Namespace, *hostview.Table, error)) {
	todo := make(chan *Namespace)
	var one sync.Mutex
	var all sync.WaitGroup
	for range max(workers, 1) {
		all.Go(func() {
			for n := range todo {
				t, err := c.Table(ctx, n)
				one.Lock()
				visit(n, t, err)
				one.Unlock()
			}
		})
	}
	for _, n := range list {
		todo <- n
	}
	close(todo)
	all.Wait()
}
