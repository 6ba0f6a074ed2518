package namespaces

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"time"

	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/internal/linux"
	"github.com/mountward/mountward/pkg/internal/wait"
)

var errNoWay = errors.New("nothing leads to it: no process, descriptor or bind mount that we can use")

// maxWalk bounds the walk to a bind mount, which can be on a file system that
// does not answer.
const maxWalk = time.Second

// open opens the file of a namespace, by whatever leads to it. The caller
// closes it at once: it holds all the mounts.
func (c *Census) open(ctx context.Context, n *Namespace) (*os.File, error) {
	if n.Inode == 0 {
		return nil, errNoWay
	}
	var err error
	try := func(e error) bool {
		if e != nil && !linux.Gone(e) {
			err = e
		}
		return e == nil
	}
	for _, pid := range n.PIDs[:min(len(n.PIDs), maxTries)] {
		if f, e := c.openFile(nil, c.proc+"/"+c.taskOf(pid)+"/ns/mnt", n); try(e) {
			return f, nil
		}
	}
	for _, h := range n.Holds[:min(len(n.Holds), maxTries)] {
		if f, e := c.openHold(ctx, n, h); try(e) {
			return f, nil
		}
	}
	if c.Rung == RungKernel && n.ID != 0 {
		return c.openListed(ctx, n)
	}
	return nil, cmp.Or(err, ErrGone)
}

// openFile opens the namespace's file at a path. The inode number of one that
// has ended is another's at once; where the number for statmount(2) is known,
// that tells them apart.
func (c *Census) openFile(dir *os.File, path string, n *Namespace) (*os.File, error) {
	f, err := linux.OpenMountNS(c.proc, dir, path, n.Inode)
	if err != nil || n.ID == 0 {
		return f, err
	}
	if now, err := linux.DescribeMountNS(f); err == nil && now.ID == n.ID {
		return f, nil
	}
	_ = f.Close()
	return nil, fmt.Errorf("open %s: %w", path, fs.ErrNotExist)
}

func (c *Census) openHold(ctx context.Context, n *Namespace, h Hold) (*os.File, error) {
	if h.PID != 0 {
		return c.openFile(nil, fmt.Sprintf("%s/%d/fd/%d", c.proc, h.PID, h.FD), n)
	}
	in, ok := c.At(h.In)
	if !ok || len(in.PIDs) == 0 {
		return nil, fmt.Errorf("%s in mnt:[%d]: %w", h.Path, h.In, errNoWay)
	}
	ctx, cancel := context.WithTimeout(ctx, maxWalk)
	defer cancel()
	return wait.For(ctx, maxWait, func() (*os.File, error) {
		root, err := linux.OpenMagic(c.proc + "/" + c.taskOf(in.PIDs[0]) + "/root")
		if err != nil {
			return nil, err
		}
		defer root.Close()
		return c.openFile(root, h.Path, n)
	}, closeLate)
}

// openListed finds the namespace in the kernel's list. That has it as long as
// it is there.
func (c *Census) openListed(ctx context.Context, n *Namespace) (*os.File, error) {
	return wait.For(ctx, maxWait, func() (*os.File, error) {
		var found *os.File
		opened := ErrGone
		err := linux.WalkMountNamespaces(c.proc, func(f *os.File, ns linux.MountNS) bool {
			if ns.ID != n.ID {
				return true
			}
			found, opened = c.openFile(nil, c.proc+"/self/fd/"+strconv.Itoa(int(f.Fd())), n)
			return false
		})
		return found, cmp.Or(err, opened)
	}, closeLate)
}

func closeLate(f *os.File) { _ = f.Close() }

// byEntering reads the table as a thread of ours sees it in the namespace.
func (c *Census) byEntering(ctx context.Context, n *Namespace) (*hostview.Table, error) {
	f, err := c.open(ctx, n)
	if err != nil {
		return nil, err
	}
	m, err := linux.OpenMountinfoIn(c.proc, f)
	_ = f.Close()
	if err != nil {
		return nil, err
	}
	defer m.Close()
	r, err := m.Rewind()
	if err != nil {
		return nil, err
	}
	return readTable(r)
}

// taskOf returns the directory of a process below procfs, or of a thread.
func (c *Census) taskOf(pid int) string {
	if p, ok := c.Process(pid); ok && p.Thread != 0 {
		return fmt.Sprintf("%d/task/%d", p.PID, p.Thread)
	}
	return strconv.Itoa(pid)
}
