package policytest

import "strings"

// Unnamed returns the effects that break a workload which no name is for, and
// the names that are for none that breaks.
func (w Workloads) Unnamed(effects []Effect) (broken []Effect, idle []Named) {
	used := make([]bool, len(w.Breaks))
	for _, e := range effects {
		if e.Breaks == "" {
			continue
		}
		named := false
		for i, n := range w.Breaks {
			if n.is(e.Workload) {
				named, used[i] = true, true
			}
		}
		if !named {
			broken = append(broken, e)
		}
	}
	for i, n := range w.Breaks {
		if !used[i] {
			idle = append(idle, n)
		}
	}
	return broken, idle
}

// is reports whether the name is for a workload. No character but * is special:
// names of charts have brackets.
func (n Named) is(workload string) bool {
	parts := strings.Split(n.Glob, "*")
	first, last := parts[0], parts[len(parts)-1]
	if len(parts) == 1 {
		return workload == first
	}
	rest, ok := strings.CutPrefix(workload, first)
	for _, part := range parts[1 : len(parts)-1] {
		if !ok {
			return false
		}
		_, rest, ok = strings.Cut(rest, part)
	}
	return ok && strings.HasSuffix(rest, last)
}
