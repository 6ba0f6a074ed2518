package main

import "sync"

// maxUnstarted bounds the containers that are remembered; of one that found no room
// it is not known.
const maxUnstarted = 4096

// unstarted are the containers that were created on this connection and that nothing
// was asked about since: where one of them is removed it has never started, whatever
// the runtime can tell. The zero value is empty.
type unstarted struct {
	mu  sync.Mutex
	ids map[string]bool
}

func (u *unstarted) add(id string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ids == nil {
		u.ids = map[string]bool{}
	}
	if len(u.ids) < maxUnstarted {
		u.ids[id] = true
	}
}

// take forgets a container, and reports whether it was known.
func (u *unstarted) take(id string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	known := u.ids[id]
	delete(u.ids, id)
	return known
}
