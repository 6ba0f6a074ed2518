package hostview

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/linux"
)

// Travel calls do on a thread that can go to the mount namespaces of the runtime
// and of processes that are held; see linux.Travel for what that takes. It can
// hang as long as do does.
func (v *View) Travel(do func(*linux.Traveller) error) error { return linux.Travel(v.proc, do) }

var errNotHeld = errors.New("the runtime's process is not held: this kernel has no pidfd")

// Enter takes the thread to the mount namespace of the runtime, where what
// OpenFile opened can be cloned.
func (v *View) Enter(t *linux.Traveller) error {
	switch {
	case v.namespace.Truth == facts.Yes:
		return t.Home()
	case v.process == nil:
		return errNotHeld
	default:
		return t.EnterProcess(v.process)
	}
}

// Enter takes the thread to the mount namespace of the process.
func (p *Process) Enter(t *linux.Traveller) error { return t.EnterProcess(p.fd) }

// Namespace returns the inode number of the mount namespace of the process. It
// needs the rights of PTRACE_MODE_READ. The error is a *CannotTell.
func (p *Process) Namespace() (uint64, error) {
	inode, err := linux.MountNamespace(p.view.proc, strconv.Itoa(p.PID))
	if err == nil && !p.Alive() {
		return 0, cannotTell(p.name(), "it is gone")
	}
	if err != nil {
		return 0, cannotTellErr(p.name(), err)
	}
	return inode, nil
}

// Is returns an error where an open file is on another mount than the entry is
// about. No two mounts that are there at one time have one id.
func (e Entry) Is(f *os.File) error {
	id, err := linux.MountID(f)
	if err == nil && id != e.ID {
		err = fmt.Errorf("%s is on mount %d now, it was on %d", f.Name(), id, e.ID)
	}
	return err
}
