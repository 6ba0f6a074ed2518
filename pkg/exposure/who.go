package exposure

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/namespaces"
)

// The kinds of Who.
const (
	KindContainer = "container" // of the runtime, or by its cgroup of another one
	KindProcess   = "process"   // neither a container nor the node's: a rootless container, a user's session
	KindHeld      = "held"      // nobody: the namespace is only held, by a descriptor or a bind mount
	KindService   = "service"   // a unit of systemd in a mount namespace of its own
	KindHost      = "host"      // the node itself
)

// Who is a container, or other processes, in one mount namespace.
type Who struct {
	Kind        string `json:"kind"`
	ContainerID string `json:"container_id,omitempty"`
	Container   string `json:"container,omitempty"` // its name
	Sandbox     bool   `json:"sandbox,omitempty"`   // the pod's own container
	PodUID      string `json:"pod_uid,omitempty"`
	Pod         string `json:"pod,omitempty"`
	Namespace   string `json:"namespace,omitempty"` // of the pod
	Unit        string `json:"unit,omitempty"`      // of systemd
	Comm        string `json:"comm,omitempty"`      // of the first process

	MountNamespace uint64 `json:"mount_namespace"`          // its inode
	UserNamespace  uint64 `json:"user_namespace,omitempty"` // that owns it; 0: not known
	PIDs           []int  `json:"pids,omitempty"`           // the first of them, ascending
	PIDsOmitted    int    `json:"pids_omitted,omitempty"`
	// Holders are what keeps a namespace that nobody is in.
	Holders []string `json:"holders,omitempty"`

	// Privileged is that of the specification.
	Privileged facts.Answer `json:"privileged"`
	// Users are as whom its processes act. UsersWhy says why these may not be
	// all.
	Users    []User `json:"users,omitempty"`
	UsersWhy string `json:"users_why,omitempty"`
	// HostPID answers whether a process of it sees the node's processes.
	HostPID facts.Answer `json:"host_pid"`
	Note    string       `json:"note,omitempty"`

	task    *namespaces.Task
	members []namespaces.Process
}

// Node reports whether it is the node itself or one of its services.
func (w Who) Node() bool { return w.Kind == KindHost || w.Kind == KindService }

// maxPIDs bounds the processes that are listed and looked at of one Who.
const maxPIDs = 64

// whoIn sorts the processes of a mount namespace by whose they are.
func (n Node) whoIn(ns *namespaces.Namespace) []Who {
	members := slices.DeleteFunc(n.Census.Members(ns), func(p namespaces.Process) bool { return p.Kernel })
	base := Who{MountNamespace: ns.Inode, UserNamespace: ns.User}
	if len(members) == 0 && !n.isHost(ns.Inode) {
		base.Kind, base.Holders = KindHeld, n.holders(ns)
		base.Privileged = facts.CannotTell("nobody is in the namespace")
		base.HostPID = base.Privileged
		return []Who{base}
	}
	groups := map[string]*Who{}
	var order []string
	for _, p := range members {
		w := n.whose(base, p)
		key := w.Kind + "\x00" + cmp.Or(w.ContainerID, w.Unit)
		if groups[key] == nil {
			groups[key] = &w
			order = append(order, key)
		}
		groups[key].members = append(groups[key].members, p)
	}
	if n.isHost(ns.Inode) && groups[KindHost+"\x00"] == nil { // hidden by hidepid, or a fixture
		w := base
		w.Kind = KindHost
		groups[KindHost+"\x00"], order = &w, append(order, KindHost+"\x00")
	}
	all := make([]Who, 0, len(order))
	for _, key := range order {
		w := groups[key]
		w.list()
		all = append(all, *w)
	}
	return all
}

// whose says whose a process is.
func (n Node) whose(w Who, p namespaces.Process) Who {
	w.Comm, w.Unit = p.Comm, p.Owner.Unit
	w.ContainerID, w.PodUID, w.task = p.Owner.ContainerID, p.Owner.PodUID, p.Owner.Task
	w.Privileged = facts.CannotTell("it has no specification")
	switch {
	case w.task != nil:
		c := w.task.Container
		w.Kind, w.ContainerID, w.Container, w.Sandbox = KindContainer, c.ID, c.Name, w.task.Sandbox
		w.Pod, w.Namespace, w.PodUID = c.Pod.Name, c.Pod.Namespace, cmp.Or(c.Pod.UID, w.PodUID)
		w.Privileged = c.Privileged
	case w.ContainerID != "":
		w.Kind = KindContainer
		w.Privileged = facts.CannotTell("the specification of this container was not found")
	case n.isHost(w.MountNamespace):
		w = Who{Kind: KindHost, MountNamespace: w.MountNamespace, UserNamespace: w.UserNamespace, Privileged: facts.Is(true, "it is the node itself")}
	case n.isService(p):
		w.Kind = KindService
	default:
		w.Kind, w.Unit = KindProcess, ""
	}
	if w.Kind == KindContainer && n.isHost(w.MountNamespace) {
		w.Note = "a process of it is in the mount namespace of the node, as that of nsenter or of a hypervisor is"
	}
	return w
}

// isService reports whether a process is of a unit that is the node's own: not
// what a user runs below his manager, nor in another user namespace.
func (n Node) isService(p namespaces.Process) bool {
	return strings.HasSuffix(p.Owner.Unit, ".service") && !strings.HasPrefix(p.Owner.Unit, "user@") &&
		!strings.Contains(p.Owner.Cgroup, "/user@") && p.User == n.hostUser()
}

// hostUser is the user namespace of the node; 0: not known.
func (n Node) hostUser() uint64 {
	for _, inode := range n.Host {
		for _, ns := range n.Namespaces {
			if ns.Inode == inode && ns.User != 0 {
				return ns.User
			}
		}
	}
	return 0
}

// list fills in which processes it has.
func (w *Who) list() {
	if w.Kind == KindHost {
		return
	}
	for _, p := range w.members {
		if len(w.PIDs) == maxPIDs {
			w.PIDsOmitted = len(w.members) - maxPIDs
			break
		}
		w.PIDs = append(w.PIDs, id(p))
	}
}

// id is the number by which procfs has the process, or the thread that is alone
// in its mount namespace.
func id(p namespaces.Process) int { return cmp.Or(p.Thread, p.PID) }
