package exposure

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"

	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/namespaces"
)

// maxReaders bounds how many tables are read at a time, and so kept: the kernel
// holds a lock of the whole node while it writes one.
const maxReaders = 4

// scan reads the table of every namespace and visits it, by its index. Where
// the visit says that something is missing, the table is read and visited once
// more: a line can be lost while others change. It returns what could not be
// read; a namespace that has ended is nothing that is not known.
func (n Node) scan(ctx context.Context, visit func(i int, t *hostview.Table) (complete bool)) []namespaces.Unknown {
	unknown := make([]*namespaces.Unknown, len(n.Namespaces))
	next := make(chan int)
	var readers sync.WaitGroup
	for range min(maxReaders, runtime.GOMAXPROCS(0), len(n.Namespaces)) {
		readers.Go(func() {
			for i := range next {
				unknown[i] = n.visit(ctx, i, visit)
			}
		})
	}
	for i := range n.Namespaces {
		next <- i
	}
	close(next)
	readers.Wait()
	var all []namespaces.Unknown
	for _, u := range unknown {
		if u != nil {
			all = append(all, *u)
		}
	}
	return all
}

// readings is how often a table is read before something is not in it.
const readings = 2

func (n Node) visit(ctx context.Context, i int, visit func(int, *hostview.Table) bool) *namespaces.Unknown {
	ns := n.Namespaces[i]
	unknown := func(why string) *namespaces.Unknown {
		return &namespaces.Unknown{What: fmt.Sprintf("mount namespace mnt:[%d]%s", ns.Inode, n.named(ns)), Why: why}
	}
	for range readings {
		if err := ctx.Err(); err != nil {
			return unknown("not read: " + err.Error())
		}
		t, err := n.Census.Table(ctx, ns)
		if err == nil && t == nil {
			err = errors.New("it has no table")
		}
		switch {
		case err != nil && n.ended(ns):
			return nil
		case err != nil:
			return unknown(err.Error())
		case visit(i, t):
			return nil
		}
	}
	return nil
}

// tableOf reads the table of the namespace with the inode.
func (n Node) tableOf(ctx context.Context, inode uint64) (*hostview.Table, error) {
	for _, ns := range n.Namespaces {
		if ns.Inode == inode {
			return n.Census.Table(ctx, ns)
		}
	}
	return nil, errors.New("no such mount namespace was found")
}

// ended reports whether those who were in a namespace have ended, and nothing is
// known to hold it.
func (n Node) ended(ns *namespaces.Namespace) bool {
	members := n.Census.Members(ns)
	for _, p := range members {
		if _, err := os.Lstat(n.procDir(p)); !gone(err) {
			return false
		}
	}
	return len(members) > 0 && len(ns.Holds) == 0
}

// lost lists the containers that run and are in no namespace that was found. A
// number that the runtime wrote down is another's by now where a process of
// another cgroup has it.
func (n Node) lost() []namespaces.Unknown {
	found, known := map[string]bool{}, map[int]namespaces.Process{}
	for _, ns := range n.Namespaces {
		for _, p := range n.Census.Members(ns) {
			known[p.PID] = p
			if p.Owner.Task != nil {
				found[p.Owner.Task.Container.ID] = true
			}
			found[p.Owner.ContainerID] = true
		}
	}
	var all []namespaces.Unknown
	for _, t := range n.Tasks {
		if t.PID == 0 || found[t.Container.ID] {
			continue
		}
		if p, ok := known[t.PID]; ok && p.Owner.Why == "" && p.Owner.Cgroup != "" {
			continue
		}
		if _, err := os.Lstat(filepath.Join(n.Proc, strconv.Itoa(t.PID))); gone(err) {
			continue
		}
		w := n.whose(Who{}, namespaces.Process{Owner: namespaces.Owner{Task: &t}})
		all = append(all, namespaces.Unknown{What: w.name(), Why: "its mount namespace was not found"})
	}
	return all
}
