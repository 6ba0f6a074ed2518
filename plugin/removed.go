package main

import "sync"

// maxRemoved bounds the ids that are remembered; a synchronization takes less
// time than so many removals.
const maxRemoved = 1024

// removals are the containers that the runtime removed last: work in the
// background keeps nothing of them. The zero value is empty.
type removals struct {
	mu  sync.Mutex
	ids [maxRemoved]string
	at  int
}

func (r *removals) add(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ids[r.at%maxRemoved] = id
	r.at++
}

// unless runs f, which a removal waits for, if the container was not removed.
func (r *removals) unless(id string, f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range r.ids {
		if one == id {
			return
		}
	}
	f()
}
