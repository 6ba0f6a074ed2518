package namespaces

import (
	"context"
	"os"

	"github.com/mountward/mountward/pkg/internal/linux"
)

// owners asks the namespaces' own files for what the kernel's list told of
// those in it: the number for statmount(2) and the user namespace.
func (t *taking) owners(ctx context.Context) {
	if _, err := linux.MountNamespace(t.proc, "self"); err != nil {
		return // no procfs
	}
	each(len(t.Namespaces), func(i int) {
		n := t.Namespaces[i]
		if n.Inode == 0 || n.User != 0 {
			return
		}
		if len(n.PIDs) > 0 { // what the link of a process leads to need not be looked at first
			f, err := linux.OpenTaskMountNS(t.proc + "/" + t.taskOf(n.PIDs[0]))
			if err == nil && n.own(f) {
				return
			}
		}
		if f, err := t.open(ctx, n); err == nil { // else it is not known
			n.own(f)
		}
	})
}

// own notes what the namespace's file tells, and closes it. A process can be in
// another namespace by now.
func (n *Namespace) own(f *os.File) bool {
	defer f.Close()
	ns, err := linux.DescribeMountNS(f)
	if err != nil || ns.Inode != n.Inode {
		return false
	}
	n.ID, n.User = ns.ID, ns.User
	return true
}
