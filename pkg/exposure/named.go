package exposure

import (
	"fmt"

	"github.com/mountward/mountward/pkg/namespaces"
)

// named says whose a namespace is, for a sentence.
func (n Node) named(ns *namespaces.Namespace) string {
	for _, w := range n.whoIn(ns) {
		if name := w.name(); name != "" {
			return " of " + name
		}
	}
	return ""
}

func (w Who) name() string {
	switch {
	case w.Pod != "":
		return fmt.Sprintf("container %s of pod %s/%s", w.Container, w.Namespace, w.Pod)
	case w.ContainerID != "":
		return "container " + w.ContainerID
	case w.Unit != "":
		return "unit " + w.Unit
	case len(w.PIDs) > 0:
		return fmt.Sprintf("process %d (%s)", w.PIDs[0], w.Comm)
	default:
		return w.Kind
	}
}

// holders names what keeps a namespace that nobody is in.
func (n Node) holders(ns *namespaces.Namespace) []string {
	var all []string
	for _, h := range ns.Holds {
		if h.PID != 0 {
			all = append(all, fmt.Sprintf("descriptor %d of process %d", h.FD, h.PID))
		} else {
			all = append(all, fmt.Sprintf("bind mount at %s in mnt:[%d]", h.Path, h.In))
		}
	}
	return all
}

// show is the command that shows a line of the table.
func (w Who) show(id int) string {
	show := fmt.Sprintf("grep '^%d ' /proc/self/mountinfo", id)
	if len(w.members) == 0 {
		return show
	}
	proc := fmt.Sprintf("/proc/%d", w.members[0].PID)
	if w.members[0].Thread != 0 {
		proc += fmt.Sprintf("/task/%d", w.members[0].Thread)
	}
	return fmt.Sprintf("grep '^%d ' %s/mountinfo", id, proc)
}
