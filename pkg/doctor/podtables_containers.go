package doctor

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/namespaces"
)

// container is a task, and whether and where it runs.
type container struct {
	namespaces.Task
	Running facts.Answer
	in      *namespaces.Namespace // of a running one
	process int                   // in that namespace
}

// containers returns the tasks. One runs where a process is known to be its own
// in a mount namespace that is not the host's; it does not where no process is
// its own and all of the node are known.
func (s *Snapshot) containers() []container {
	all := make([]container, 0, len(s.Tasks))
	own := s.ownProcesses()
	for _, t := range s.Tasks {
		c := container{Task: t}
		switch at, found := own[t.Container.ID]; {
		case s.Census == nil:
			c.Running = facts.CannotTell("the processes of the node are not known")
		case found && at.in != nil:
			c.Running = facts.Is(true, fmt.Sprintf("process %d is its own", at.process))
			c.in, c.process = at.in, at.process
		case found:
			c.Running = facts.CannotTell(fmt.Sprintf("process %d is its own, and its mount namespace is not known", at.process))
		case t.PID == 0:
			c.Running = facts.Is(false, "it has no process")
		default:
			c.Running = s.gone(t.PID)
		}
		all = append(all, c)
	}
	return all
}

func (s *Snapshot) gone(pid int) facts.Answer {
	p, ok := s.Census.Process(pid)
	switch {
	case !ok:
		return facts.Is(false, fmt.Sprintf("process %d, which the runtime wrote down, is gone", pid))
	case p.Owner.Why != "":
		return facts.CannotTell(fmt.Sprintf("whose process %d is: %s", pid, p.Owner.Why))
	case p.Owner.ContainerID != "", p.Owner.Unit != "", p.Kernel:
		return facts.Is(false, fmt.Sprintf("process %d, which the runtime wrote down, is another's now", pid))
	default:
		return facts.CannotTell(fmt.Sprintf("process %d is not proved to be its own", pid))
	}
}

// ownProcesses returns by container a process of it, the one that the runtime
// wrote down where that is one. Helpers of a runtime are in a container's cgroup
// and in the host's namespace.
func (s *Snapshot) ownProcesses() map[string]container {
	own := map[string]container{}
	if s.Census == nil {
		return own
	}
	host := map[uint64]bool{}
	for _, p := range s.Places {
		host[p.Inode] = p.Inode != 0
	}
	for _, n := range s.Census.Namespaces {
		if host[n.Inode] {
			continue
		}
		for _, p := range s.Census.Members(n) {
			if t := p.Owner.Task; t != nil {
				if at, ok := own[t.Container.ID]; !ok || at.in == nil || p.PID == t.PID {
					own[t.Container.ID] = container{in: n, process: p.PID}
				}
			}
		}
	}
	for _, p := range s.Census.Processes { // those whose namespace is not known
		if t := p.Owner.Task; t != nil && p.PID == t.PID {
			if _, ok := own[t.Container.ID]; !ok {
				own[t.Container.ID] = container{process: p.PID}
			}
		}
	}
	return own
}

// tableOf reads the mount table of a running container now.
func (s *Snapshot) tableOf(c container) (*hostview.Table, error) {
	t, err := s.Census.Table(s.Context, c.in)
	if err != nil {
		return nil, err
	}
	if _, ok := t.Covering("/"); !ok {
		return nil, errNoRoot
	}
	return t, nil
}

var errNoRoot = errors.New("its mount table has no mount at /")

// asks reports whether any bind of a container asks for at least so much.
func (c container) asks(least facts.Propagation) bool {
	return slices.ContainsFunc(c.Spec.Mounts, func(m facts.Mount) bool { return m.Bind() && asked(m) >= least })
}

// asked is what a mount asks for; without a word it asks for nothing.
func asked(m facts.Mount) facts.Propagation {
	if p := m.Requested(); p == facts.Shared || p == facts.Slave {
		return p
	}
	return facts.Private
}

// name is how findings name a container: "kube-system/csi-node-x driver
// (0123456789ab)".
func (c container) name() string {
	id := c.Container.ID
	if len(id) > 12 {
		id = id[:12]
	}
	var words []string
	if pod := c.Container.Pod; pod.Name != "" {
		words = append(words, word(pod.Namespace+"/"+pod.Name))
	}
	if c.Container.Name != "" {
		words = append(words, word(c.Container.Name))
	}
	if len(words) == 0 {
		return word(id)
	}
	return fmt.Sprintf("%s (%s)", strings.Join(words, " "), word(id))
}

// evidence is a line of the container's table.
func (c container) evidence(e hostview.Entry) Evidence {
	return Evidence{Text: e.Line(), Show: fmt.Sprintf("grep '^%d ' /proc/%d/mountinfo", e.ID, c.process)}
}

// host is the mount namespace whose mounts the containers get: the runtime's.
func (s *Snapshot) host() (space, bool) {
	spaces := s.spaces()
	for _, role := range []string{RoleRuntime, RoleKubelet, RoleInit} {
		for _, sp := range spaces {
			if sp.has(role) {
				return sp, true
			}
		}
	}
	return nil, false
}

// again reads the table of the host once more: what is missing now was not only
// missed.
func (s *Snapshot) again(sp space) (*hostview.Table, error) {
	return settled(fmt.Sprintf("%s/%d/mountinfo", s.Proc, sp.first().Process.PID))
}

// kubeletRoot is the kubelet's root as mount tables write it.
func (s *Snapshot) kubeletRoot() string {
	if s.Kubelet.Canonical != "" {
		return s.Kubelet.Canonical
	}
	return s.Kubelet.Root
}
