package pins

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mountward/mountward/pkg/internal/shell"
	"github.com/mountward/mountward/pkg/namespaces"
)

// holder begins a holder in a mount namespace.
func (s *search) holder(n *namespaces.Namespace, kind Kind) *Holder {
	h := &Holder{Kind: kind, Namespace: n.Inode, namespace: n, Where: WhereOther}
	all := slices.Clone(n.PIDs)
	if s.isHome(n) {
		h.Where, all = WhereHost, nil // all of them are in it
	}
	if len(n.PIDs) == 0 {
		h.Held = n.Holds
	}
	h.transient = len(all) > 0 || s.heldByStarting(h.Held)
	h.starting = h.transient
	for _, pid := range all {
		p, ok := s.byPID[pid]
		if !ok {
			p = namespaces.Process{PID: pid}
		}
		s.process(h, p)
		h.starting = h.starting && starting(p.Comm)
		h.transient = h.transient && (starting(p.Comm) || young(p, time.Now()))
	}
	return h
}

// young reports a process that may have become the container's while we looked: the
// table that the census kept can be older than what it has read of the process.
func young(p namespaces.Process, now time.Time) bool {
	const most = 10 * time.Second
	return !p.Started.IsZero() && now.Sub(p.Started) < most
}

// process adds a process to a holder, and what is known of its owner.
func (s *search) process(h *Holder, p namespaces.Process) {
	if len(h.Processes) >= maxProcesses {
		h.ProcessesOmitted++
		return
	}
	pid := p.PID
	if p.Thread != 0 {
		pid = p.Thread
	}
	h.Processes = append(h.Processes, Process{PID: pid, Comm: p.Comm, Started: p.Started, UID: p.UID, User: p.User})
	o := p.Owner
	if t := o.Task; t != nil && h.Owner.ContainerID == "" {
		h.Owner = ownerOf(*t)
	}
	if h.Owner == (Owner{}) {
		h.Owner = Owner{ContainerID: o.ContainerID, PodUID: o.PodUID, Unit: o.Unit}
	}
	if h.Where == WhereOther && h.Owner.ContainerID != "" {
		h.Where = WhereContainer
	}
}

// Name says in a few words what a holder is: "container app of pod prod/web-0".
func (h *Holder) Name() string {
	o := h.Owner
	switch {
	case h.Where == WhereKernel:
		return "the kernel"
	case o.Pod != "":
		return fmt.Sprintf("container %s of pod %s/%s", o.Container, o.Namespace, o.Pod)
	case o.ContainerID != "":
		return "container " + o.ContainerID[:min(12, len(o.ContainerID))]
	case o.Unit != "":
		return o.Unit
	case len(h.Processes) > 0:
		return fmt.Sprintf("%s[%d]", h.Processes[0].Comm, h.Processes[0].PID)
	case h.Where == WhereHost:
		return "the host"
	case len(h.Held) > 0:
		return "a mount namespace without a process"
	default:
		return fmt.Sprintf("mnt:[%d]", h.Namespace)
	}
}

// ownerOf is the container of a task. That of a sandbox has no name.
func ownerOf(t namespaces.Task) Owner {
	o := Owner{
		ContainerID: t.Container.ID, Container: t.Container.Name,
		Namespace: t.Container.Pod.Namespace, Pod: t.Container.Pod.Name, PodUID: t.Container.Pod.UID,
		sandbox: t.Sandbox,
	}
	if t.Sandbox {
		o.Container = "pause"
	}
	return o
}

// heldByStarting reports a namespace without a process that only a runtime keeps
// which is just starting a container: it has a descriptor of it for a moment.
func (s *search) heldByStarting(all []namespaces.Hold) bool {
	for _, held := range all {
		if held.PID == 0 || !starting(s.byPID[held.PID].Comm) {
			return false
		}
	}
	return len(all) > 0
}

// starting reports a process that is runc before it becomes the container's.
func starting(comm string) bool { return strings.HasPrefix(comm, "runc:[") || comm == "runc" }

// namespaceFile is a file by which the holder's namespace can be entered, ""
// where that is pid 1's or there is none.
func namespaceFile(h *Holder) string {
	if n := h.namespace; n != nil && len(n.PIDs) > 0 {
		if slices.Contains(n.PIDs, 1) {
			return ""
		}
		return fmt.Sprintf("/proc/%d/ns/mnt", n.PIDs[0])
	}
	for _, held := range h.Held {
		if held.PID != 0 {
			return fmt.Sprintf("/proc/%d/fd/%d", held.PID, held.FD)
		}
	}
	for _, held := range h.Held {
		if held.Path != "" {
			return held.Path
		}
	}
	return ""
}

// mountinfoOf is what shows the table of the holder's namespace.
func mountinfoOf(h *Holder) string {
	file := namespaceFile(h)
	switch {
	case file == "":
		return "/proc/1/mountinfo"
	case len(h.namespace.PIDs) > 0:
		return fmt.Sprintf("/proc/%d/mountinfo", h.namespace.PIDs[0])
	default:
		return fmt.Sprintf("<(nsenter --mount=%s cat /proc/self/mountinfo)", shell.Quote(file))
	}
}
