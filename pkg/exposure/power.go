package exposure

import (
	"fmt"

	"github.com/mountward/mountward/pkg/facts"
)

// powerOf tells why a container can reach what is not mounted in it: it can open
// all devices, or enter or look through the node's processes. Only a container
// that nothing confines is privileged; one of which that is not known, and which
// has the capabilities of one, is named as well.
//
// Whoever sees a process of his own user that has no more capabilities than he
// can walk through its /proc/PID/root. Source: ptrace(2), PTRACE_MODE_READ_FSCREDS.
func (f *finder) powerOf(w Who) (Power, bool) {
	p := Power{Who: w}
	if w.Kind != KindContainer {
		return p, false
	}
	all := func(why string) { p.Everything, p.Why = true, append(p.Why, why) }
	if w.Privileged.Truth == facts.Yes {
		all("privileged: " + w.Privileged.Why)
	}
	if w.Note != "" {
		all(w.Note)
	}
	seen := map[string]bool{}
	for _, u := range w.Users {
		if host := f.hostUser(); host == 0 || u.UserNamespace != host {
			continue // its capabilities do not count on the node, or that is not known
		}
		key := fmt.Sprint(u.has(capSysPtrace), u.has(capSysAdmin))
		if seen[key] {
			continue
		}
		seen[key] = true
		switch {
		case w.HostPID.Truth != facts.Yes:
		case u.has(capSysPtrace):
			all(fmt.Sprintf("it sees the node's processes and has %s: it can enter their mount namespaces", capSysPtrace))
		default:
			p.Why = append(p.Why, "it sees the node's processes: through /proc/PID/root it reaches what those of its users reach that have no more capabilities")
		}
		if w.Privileged.Truth == facts.Unknown && u.has(capSysAdmin) {
			all(fmt.Sprintf("it has %s, and whether it is privileged cannot be told: %s", capSysAdmin, w.Privileged.Why))
		}
	}
	return p, len(p.Why) > 0
}
