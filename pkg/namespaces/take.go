package namespaces

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/mountward/mountward/pkg/internal/linux"
	"github.com/mountward/mountward/pkg/internal/wait"
)

// Take lists the namespaces. An error says that nothing could be listed, or not
// by the rung that was asked for.
func Take(ctx context.Context, o Options) (*Census, error) {
	c := &Census{proc: cmp.Or(o.Proc, "/proc"), Rung: RungProc}
	switch o.Rung {
	case "", RungKernel, RungProc:
	default:
		return nil, fmt.Errorf("take namespaces: no rung %q", o.Rung)
	}
	t := &taking{Census: c, inodes: map[uint64]*Namespace{}}
	if o.Rung != RungProc {
		err := t.walk(ctx)
		if err != nil && o.Rung == RungKernel {
			return nil, fmt.Errorf("take namespaces: %w", err)
		}
	}
	if err := t.processes(ctx); err != nil {
		return nil, fmt.Errorf("take namespaces: %w", err)
	}
	t.unreadable()
	t.sort()
	t.owners(ctx)
	if c.Rung == RungProc || slices.ContainsFunc(c.Namespaces, empty) {
		t.descriptors(ctx)
		t.binds(ctx)
		t.owners(ctx)
	}
	if c.Rung == RungKernel && slices.ContainsFunc(c.Namespaces, unheld) {
		t.confirm(ctx)
	}
	t.sight()
	c.name(o.Tasks)
	return c, nil
}

func empty(n *Namespace) bool  { return len(n.PIDs) == 0 }
func unheld(n *Namespace) bool { return len(n.PIDs) == 0 && len(n.Holds) == 0 }

// taking is a census in the making.
type taking struct {
	*Census
	inodes map[uint64]*Namespace
	closed []int // processes whose namespace link we may not read
	refuse error // what was met there first
	kept   int   // mounts of the tables that were read
}

func (t *taking) unknown(what string, err error) {
	t.Unknown = append(t.Unknown, Unknown{What: what, Why: err.Error()})
}

// namespace returns the one with the inode number, new or not.
func (t *taking) namespace(inode uint64) *Namespace {
	n, ok := t.inodes[inode]
	if !ok {
		n = &Namespace{Inode: inode}
		t.inodes[inode] = n
		t.Namespaces = append(t.Namespaces, n)
	}
	return n
}

func (t *taking) sort() {
	slices.SortStableFunc(t.Namespaces, func(a, b *Namespace) int { return cmp.Compare(a.Inode, b.Inode) })
	for _, n := range t.Namespaces {
		slices.Sort(n.PIDs)
	}
}

// walk lists what the kernel lists. It can take the last process's place in a
// namespace and then has to unmount all in it: it is not waited for for ever.
func (t *taking) walk(ctx context.Context) error {
	found, err := kernelList(ctx, t.proc)
	if err != nil {
		return err
	}
	for _, f := range found {
		n := t.namespace(f.Inode)
		n.ID, n.User = f.ID, f.User
	}
	t.Rung = RungKernel
	return nil
}

func kernelList(ctx context.Context, proc string) ([]linux.MountNS, error) {
	if !capable(proc) {
		return nil, errIncapable
	}
	return wait.For(ctx, maxWait, func() (all []linux.MountNS, err error) {
		err = linux.WalkMountNamespaces(proc, func(_ *os.File, ns linux.MountNS) bool {
			all = append(all, ns)
			return true
		})
		return all, err
	}, nil)
}

// confirm drops the namespaces that are gone since they were listed, of which
// no process and no hold could be found for that reason.
func (t *taking) confirm(ctx context.Context) {
	found, err := kernelList(ctx, t.proc)
	if err != nil {
		t.unknown("namespaces without a process", err)
		return
	}
	still := map[uint64]bool{}
	for _, f := range found {
		still[f.ID] = true
	}
	t.Namespaces = slices.DeleteFunc(t.Namespaces, func(n *Namespace) bool { return unheld(n) && !still[n.ID] })
}

var errIncapable = errors.New("the kernel's list of mount namespaces takes CAP_SYS_ADMIN")
