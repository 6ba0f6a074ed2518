package pins

import (
	"fmt"
	"slices"
	"time"
)

// sampleAgain looks once more at what only a starting container has: runc makes
// its namespace with a copy of the host's tree, and most of it goes at once. A
// holder that is gone by then is told as a note.
func (s *search) sampleAgain() {
	if !slices.ContainsFunc(s.reports, func(r Report) bool {
		return slices.ContainsFunc(r.Holders, func(h Holder) bool { return h.transient })
	}) {
		return
	}
	timer := time.NewTimer(s.Again)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.ctx.Done():
	}
	for i := range s.reports {
		r := &s.reports[i]
		r.Holders = slices.DeleteFunc(r.Holders, func(h Holder) bool {
			if !h.transient || s.still(&h) {
				return false
			}
			r.Notes = append(r.Notes, fmt.Sprintf("%s, which was just starting a container, had it mounted for a moment and has not any more", h.Name()))
			return true
		})
		for j := range r.Holders {
			if r.Holders[j].transient && r.Holders[j].starting {
				r.Holders[j].Why += fmt.Sprintf(" (a container that is being started; still so after %v)", s.Again)
			}
		}
	}
}

// still reports whether a namespace still has one of the holder's mounts. What
// cannot be told is still so.
func (s *search) still(h *Holder) bool {
	table, err := s.Tables.Table(s.ctx, h.namespace)
	if err != nil {
		return !vanished(err)
	}
	return slices.ContainsFunc(h.Mounts, func(m Mount) bool {
		e, ok := table.ByID(m.ID)
		return ok && e.Device == m.Device && e.Root == m.Root
	})
}
