package namespaces

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// The rungs, as in Options.Rung.
const (
	RungKernel = "kernel" // Linux 6.12
	RungProc   = "proc"
)

// Options say where to look.
type Options struct {
	Proc string // where procfs is mounted; "/proc"
	Rung string // "" for the best there is, RungKernel or RungProc to force one
	// Tasks are the containers that the runtime knows, for names.
	Tasks []Task
}

// Census is every mount namespace of the node at one time.
type Census struct {
	Namespaces []*Namespace // ascending by Inode
	Processes  []Process    // all that were seen, ascending by PID
	Rung       string
	// Unknown is what could not be read, each with its reason: not all
	// namespaces, processes or owners may be known then.
	Unknown []Unknown

	proc string
}

// Unknown is something that could not be found out.
type Unknown = facts.Unread

// Namespace is one mount namespace.
type Namespace struct {
	// Inode is as in mnt:[INODE]. It is 0 where we have no right to read the
	// links of any process in it: its table can be read all the same, and the
	// mount at its root tells it from others.
	Inode uint64
	ID    uint64 // by which statmount(2) knows it; 0: not known
	User  uint64 // inode of the user namespace that owns it; 0: not known
	PIDs  []int  // of the processes in it, ascending; of a thread that is alone in it, its own id
	// Holds is what holds it beside processes. It is looked for where a
	// namespace has no process that is seen, or could have been missed. With
	// neither, something else holds it: a process that we do not see, an open
	// mountinfo of one that is gone, a descriptor that is on its way through a
	// socket, or the kernel for a moment.
	Holds []Hold

	root  string          // the id of the mount at "/" of its processes, where links could not be read
	table *hostview.Table // as Kept returns it
}

// Hold is what keeps a mount namespace without being in it.
type Hold struct {
	PID  int    // whose descriptor it is, 0 for a bind mount
	FD   int    // of the process
	Path string // where the bind mount of the namespace's file is
	In   uint64 // the mount namespace that has the bind mount
}

// String returns "mnt:[INODE]", as the links of procfs name it.
func (n *Namespace) String() string {
	if n.Inode == 0 && len(n.PIDs) > 0 {
		return fmt.Sprintf("the mount namespace of process %d", n.PIDs[0])
	}
	return fmt.Sprintf("mnt:[%d]", n.Inode)
}

// Of returns the namespace that a process is in, or a thread that is alone in it.
func (c *Census) Of(pid int) (*Namespace, bool) {
	for _, n := range c.Namespaces {
		if _, ok := slices.BinarySearch(n.PIDs, pid); ok {
			return n, true
		}
	}
	return nil, false
}

// At returns the namespace with the inode number.
func (c *Census) At(inode uint64) (*Namespace, bool) {
	i, ok := slices.BinarySearchFunc(c.Namespaces, inode, func(n *Namespace, inode uint64) int {
		return cmp.Compare(n.Inode, inode)
	})
	if !ok || inode == 0 {
		return nil, false
	}
	return c.Namespaces[i], true
}

// Process returns what is known of a process, or of a thread that is in another
// namespace than its process.
func (c *Census) Process(pid int) (Process, bool) {
	if i := c.index(pid); i >= 0 {
		return c.Processes[i], true
	}
	return Process{}, false
}

func (c *Census) index(pid int) int {
	i, ok := slices.BinarySearchFunc(c.Processes, pid, func(p Process, pid int) int {
		return cmp.Or(cmp.Compare(p.PID, pid), p.Thread)
	})
	if ok {
		return i
	}
	return slices.IndexFunc(c.Processes, func(p Process) bool { return p.Thread == pid && pid != 0 })
}

// Members returns the processes in a namespace.
func (c *Census) Members(n *Namespace) []Process {
	var all []Process
	for _, pid := range n.PIDs {
		if p, ok := c.Process(pid); ok {
			all = append(all, p)
		}
	}
	return all
}
