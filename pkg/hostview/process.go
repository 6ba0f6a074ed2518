package hostview

import (
	"context"
	"fmt"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/linux"
)

// Process is a process held by a pidfd: what was read of it by number is its
// own as long as it is alive after the reading.
type Process struct {
	PID  int
	view *View
	fd   *linux.PidFD
}

// OpenProcess holds the process with the number. The error is a *CannotTell.
// Requires at least Linux 5.3 (pidfd_open).
func (v *View) OpenProcess(pid int) (*Process, error) {
	fd, err := linux.OpenPidFD(pid)
	if err != nil {
		return nil, cannotTellErr(fmt.Sprintf("process %d", pid), err)
	}
	return &Process{PID: pid, view: v, fd: fd}, nil
}

// Alive reports whether the process is known to run; a zombie does not.
func (p *Process) Alive() bool {
	alive, err := p.fd.Alive()
	return err == nil && alive
}

// Table reads the mount table of the process. The error is a *CannotTell.
func (p *Process) Table() (*Table, error) {
	t, err := p.view.ContainerTable(p.PID)
	if !p.Alive() {
		return nil, cannotTell(p.name(), "it is gone")
	}
	if err != nil {
		return nil, cannotTellErr(p.name(), err)
	}
	return t, nil
}

// Prove answers whether the process is in the container whose bundle has this
// root filesystem: whether the superblock and the path in it that its "/" shows
// are those of <bundle>/rootfs on the host. It is for a container of runc. It
// is not where the runtime tells the number of a hypervisor (Kata), which is in
// a namespace with the host's tree, or of a sandbox (gVisor).
func (p *Process) Prove(ctx context.Context, bundleRootfs string) facts.Answer {
	answer, _ := p.ProveTable(ctx, bundleRootfs)
	return answer
}

// ProveTable is Prove, and returns the table of the process that the answer
// rests on; nil where it could not be read.
func (p *Process) ProveTable(ctx context.Context, bundleRootfs string) (facts.Answer, *Table) {
	t, err := p.Table()
	if err != nil {
		return facts.CannotTell(err.Error()), nil
	}
	return p.view.proveTable(ctx, p.PID, t, bundleRootfs), t
}

// ProveContainer is Prove for a process that is not held yet. The answer says
// nothing about the number after it is given.
func (v *View) ProveContainer(ctx context.Context, pid int, bundleRootfs string) facts.Answer {
	p, err := v.OpenProcess(pid)
	if err != nil {
		return facts.CannotTell(err.Error())
	}
	defer func() { _ = p.Close() }() // nothing can be lost
	return p.Prove(ctx, bundleRootfs)
}

func (v *View) proveTable(ctx context.Context, pid int, t *Table, bundleRootfs string) facts.Answer {
	inside, ok := t.At("/")
	if !ok {
		return facts.CannotTell(fmt.Sprintf("process %d has no mount at /", pid))
	}
	host, err := v.bundleRootfs(ctx, bundleRootfs)
	if err != nil {
		return facts.CannotTell(err.Error())
	}
	return facts.Is(inside.Identity() == host, fmt.Sprintf("/ of process %d is %s %s, %s is %s %s",
		pid, inside.Device, inside.Root, bundleRootfs, host.Device, host.Root))
}

// bundleRootfs finds the identity of a root filesystem also where no path can
// be walked: the runtime mounts it at a path without symbolic links if its
// state directory is one, and then the table has that very path.
func (v *View) bundleRootfs(ctx context.Context, path string) (facts.Identity, error) {
	m, err := v.Lookup(ctx, path)
	if err == nil {
		return m.Identity(), nil
	}
	if v.walker != nil {
		return facts.Identity{}, err
	}
	t, terr := v.Table(ctx)
	if terr != nil {
		return facts.Identity{}, cannotTellErr(path, terr)
	}
	if e, ok := t.At(path); ok {
		return e.Identity(), nil
	}
	return facts.Identity{}, err
}

// Close lets the process go.
func (p *Process) Close() error { return p.fd.Close() }

func (p *Process) name() string { return fmt.Sprintf("process %d", p.PID) }
