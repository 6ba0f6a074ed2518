package namespaces

import "strings"

// name says which container of the runtime each process is in: by the cgroup,
// or where that names none, by the mount namespace.
func (c *Census) name(tasks []Task) {
	if len(tasks) == 0 {
		return
	}
	byID := map[string]*Task{}
	for i := range tasks {
		byID[tasks[i].Container.ID] = &tasks[i]
	}
	for i := range c.Processes {
		o := &c.Processes[i].Owner
		switch t := byID[o.ContainerID]; {
		case o.ContainerID == "":
			if t := byCgroupName(o.Cgroup, byID); t != nil {
				o.Task, o.ContainerID = t, t.Container.ID
			}
		case t == nil:
		case delegated(o.Cgroup):
			o.Why = "its cgroup is below that of a user, who can name it like a container"
		default:
			o.Task = t
		}
	}
	for n, t := range c.inside(tasks) {
		for _, pid := range n.PIDs {
			if i := c.index(pid); i >= 0 {
				o := &c.Processes[i].Owner
				if o.Task == nil && o.ContainerID == "" {
					o.Task = t
				}
			}
		}
	}
}

// byCgroupName finds the containers of plain containerd, which has any name for
// an id, in /NAMESPACE/ID.
func byCgroupName(cgroup string, tasks map[string]*Task) *Task {
	parts := strings.Split(cgroup, "/")
	for i := 1; i < len(parts); i++ {
		if t := tasks[parts[i]]; t != nil && t.Bundle.Namespace() == parts[i-1] {
			return t
		}
	}
	return nil
}

// delegated reports a cgroup that a user of the node can have made.
func delegated(cgroup string) bool {
	for part := range strings.SplitSeq(cgroup, "/") {
		if strings.HasPrefix(part, "user@") && strings.HasSuffix(part, ".service") {
			return true
		}
	}
	return false
}

// inside finds the namespaces of the containers by the processes that the
// runtime wrote down. The number can be another's by now: then the cgroup
// mostly says so, and a namespace that is the host's, or that two containers
// claim, is no container's.
func (c *Census) inside(tasks []Task) map[*Namespace]*Task {
	host, known := c.Of(1)
	claims := map[*Namespace]*Task{}
	if !known {
		return claims
	}
	for i := range tasks {
		t := &tasks[i]
		p, ok := c.Process(t.PID)
		if !ok || t.PID == 0 || p.Kernel || p.Owner.ContainerID != t.Container.ID && (p.Owner.ContainerID != "" || p.Owner.Unit != "") {
			continue
		}
		n, ok := c.Of(t.PID)
		if !ok || n == host {
			continue
		}
		if _, twice := claims[n]; twice {
			t = nil
		}
		claims[n] = t
	}
	return claims
}
