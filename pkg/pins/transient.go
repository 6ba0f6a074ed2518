package pins

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mountward/mountward/pkg/internal/linux"
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
			if h := &r.Holders[j]; h.transient && s.stillStarting(h) {
				h.Why += fmt.Sprintf(" (a container that is being started; still so after %v)", s.Again)
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

// stillStarting reports a holder that is nothing but runc, which may have become
// the container's own process since it was read. What cannot be told is still so.
func (s *search) stillStarting(h *Holder) bool {
	still := h.starting
	for i := range h.Processes {
		p := &h.Processes[i]
		if !starting(p.Comm) {
			continue
		}
		if comm, ok := s.commNow(p.PID); ok {
			p.Comm = comm
			still = still && starting(comm)
		}
	}
	return still
}

func (s *search) commNow(pid int) (string, bool) {
	task, err := linux.OpenProcTask(s.Proc, strconv.Itoa(pid))
	if err != nil {
		return "", false
	}
	defer task.Close()
	comm, err := task.Read("comm", 64)
	return strings.TrimSuffix(string(comm), "\n"), err == nil
}
