package pins

import (
	"slices"
	"sync"

	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/namespaces"
)

// younger looks for a mount that no table had in the table of a process, read
// now: it can have been made since. Each is looked for once.
func (s *search) younger(p namespaces.Process, id int) (foundMount, error) {
	s.late.Lock()
	defer s.late.Unlock()
	if m, ok := s.late.mounts[id]; ok {
		return m.foundMount, m.err
	}
	var found lateMount
	for _, n := range s.Census.Namespaces {
		if !slices.Contains(n.PIDs, p.PID) {
			continue
		}
		var table *hostview.Table
		if table, found.err = s.Tables.Table(s.ctx, n); found.err == nil {
			found.entry, found.there = table.ByID(id)
		}
	}
	if s.late.mounts == nil {
		s.late.mounts = map[int]lateMount{}
	}
	s.late.mounts[id] = found
	return found.foundMount, found.err
}

// late are the mounts that were looked for after the tables had been read.
type late struct {
	sync.Mutex
	mounts map[int]lateMount
}

type lateMount struct {
	foundMount
	err error
}
