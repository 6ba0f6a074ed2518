package namespaces

import (
	"sync"
	"sync/atomic"
)

// workers are a few: the kernel does the work, and not all of a node's is for us.
const workers = 4

// each calls do with every number below n, in several goroutines.
func each(n int, do func(i int)) {
	var next atomic.Int64
	var done sync.WaitGroup
	for range min(workers, n) {
		done.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	done.Wait()
}
