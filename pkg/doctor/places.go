package doctor

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/internal/linux"
	"github.com/mountward/mountward/pkg/namespaces"
)

// places finds those of process 1, the kubelet and the runtime.
func (g *gatherer) places() {
	g.place(RoleInit, 1)
	if pid := g.s.Kubelet.PID; pid != 0 {
		g.place(RoleKubelet, pid)
	}
	switch r := g.s.Runtime; {
	case r.PID != 0:
		g.place(RoleRuntime, r.PID)
	case r.Shim != 0:
		g.place(RoleRuntime, r.Shim)
	}
}

func (g *gatherer) place(role string, pid int) {
	p := Place{Role: role, Process: g.process(pid)}
	var missing, whys []string
	var err error
	if p.Table, err = g.table(pid); err != nil {
		missing = append(missing, err.Error())
	}
	if p.Files, err = g.open(pid); err != nil {
		p.Files = nil
		missing = append(missing, err.Error())
	}
	// Without the inode the table tells the namespace, see Same.
	if p.Inode, err = linux.MountNamespace(g.Proc, strconv.Itoa(pid)); err != nil {
		p.Inode = 0
		whys = append(whys, err.Error())
	} else if c := g.s.Census; c != nil {
		if n, ok := c.At(p.Inode); ok {
			p.User = n.User
		}
	}
	if p.User == 0 {
		p.User = p.Process.User
	}
	p.Why = strings.Join(append(missing, whys...), "; ")
	if len(missing) > 0 {
		g.unknown(fmt.Sprintf("the mount namespace of %s (process %d)", role, pid), strings.Join(missing, "; "))
	}
	g.s.Places = append(g.s.Places, p)
}

func (g *gatherer) process(pid int) namespaces.Process {
	if g.s.Census != nil {
		if p, ok := g.s.Census.Process(pid); ok {
			return p
		}
	}
	comm, _ := os.ReadFile(fmt.Sprintf("%s/%d/comm", g.Proc, pid)) // without it, it has no name
	return namespaces.Process{PID: pid, Comm: strings.TrimSuffix(string(comm), "\n")}
}

// key tells mount namespaces apart.
func (g *gatherer) key(pid int) string {
	inode, err := linux.MountNamespace(g.Proc, strconv.Itoa(pid))
	if err != nil {
		return "process " + strconv.Itoa(pid)
	}
	// A process with another root in the same namespace has other paths.
	root, err := os.Readlink(fmt.Sprintf("%s/%d/root", g.Proc, pid))
	if err != nil {
		root = "/"
	}
	return fmt.Sprintf("mnt:[%d] %s", inode, root)
}

// table reads the table of a process, once for each mount namespace.
func (g *gatherer) table(pid int) (*hostview.Table, error) {
	key := g.key(pid)
	read, ok := g.tables[key]
	if !ok {
		read.table, read.err = settled(fmt.Sprintf("%s/%d/mountinfo", g.Proc, pid))
		g.tables[key] = read
	}
	return read.table, read.err
}

// open opens the files of a process, once for each mount namespace.
func (g *gatherer) open(pid int) (Files, error) {
	key := g.key(pid)
	opened, ok := g.files[key]
	if !ok {
		var closer io.Closer
		opened.files, closer, opened.err = g.Open(pid)
		if closer != nil {
			g.s.closers = append(g.s.closers, closer)
		}
		g.files[key] = opened
	}
	return opened.files, opened.err
}

// Same reports whether two places are of one mount namespace. Where the inode
// of one is not known, the mounts at their roots tell: an id of a mount is used
// once in the whole kernel.
func (p Place) Same(other Place) bool {
	if p.Inode != 0 && other.Inode != 0 {
		return p.Inode == other.Inode
	}
	if p.Table == nil || other.Table == nil {
		return false
	}
	a, ok := p.Table.At("/")
	b, ok2 := other.Table.At("/")
	return ok && ok2 && a.ID == b.ID
}

// Name is how findings name the place: "runtime containerd[812]".
func (p Place) Name() string {
	return fmt.Sprintf("%s %s[%d]", p.Role, word(p.Process.Comm), p.Process.PID)
}

// space is a mount namespace with the places that are in it.
type space []Place

// spaces groups the places that have a table by mount namespace.
func (s *Snapshot) spaces() []space {
	var all []space
	for _, p := range s.Places {
		if p.Table == nil {
			continue
		}
		i := slices.IndexFunc(all, func(sp space) bool { return sp[0].Same(p) })
		if i < 0 {
			all = append(all, space{p})
			continue
		}
		all[i] = append(all[i], p)
	}
	return all
}

func (sp space) has(role string) bool {
	return slices.ContainsFunc(sp, func(p Place) bool { return p.Role == role })
}

// first is the place that speaks for all: the runtime's, else the kubelet's.
func (sp space) first() Place {
	for _, role := range []string{RoleRuntime, RoleKubelet} {
		for _, p := range sp {
			if p.Role == role {
				return p
			}
		}
	}
	return sp[0]
}

// where names the places and the namespace.
func (sp space) where() string {
	var names []string
	for _, p := range sp {
		names = append(names, p.Name())
	}
	where := strings.Join(names, ", ")
	if inode := sp[0].Inode; inode != 0 {
		where += fmt.Sprintf(" mnt:[%d]", inode)
	}
	return where
}
