package namespaces

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/mountward/mountward/pkg/internal/linux"
)

// The inode numbers of the namespaces that the kernel begins with
// (PROC_USER_INIT_INO and PROC_PID_INIT_INO of linux/proc_ns.h).
const (
	firstUserNS = 0xeffffffd
	firstPidNS  = 0xeffffffc
)

// What of a census' Unknown is about who is not in our namespaces. Who looks at a
// node that is a container has no use for it.
const (
	ProcessesOutside = "the processes outside"
	OtherUsers       = "mount namespaces of other users"
)

// Inner reports whether a procfs is of another pid namespace than the kernel
// begins with: false where that cannot be told.
func Inner(proc string) bool {
	first, err := linux.OpenProcTask(proc, "1")
	if err != nil {
		return false
	}
	defer first.Close()
	pids, err := first.Namespace("ns/pid")
	return err == nil && pids != firstPidNS
}

// capable reports whether we have CAP_SYS_ADMIN.
func capable(proc string) bool {
	all, err := linux.EffectiveCapabilities(proc)
	return err == nil && all&linux.CapSysAdmin != 0
}

// sight adds what cannot be seen from where we are.
func (t *taking) sight() {
	self, err := linux.OpenProcTask(t.proc, "self")
	if err != nil {
		return // no procfs: a text of one has no more to it
	}
	defer self.Close()
	if t.Rung == RungKernel {
		if user, err := self.Namespace("ns/user"); err == nil && user != firstUserNS {
			t.unknown(OtherUsers, fmt.Errorf("we are in the user namespace user:[%d] and are shown only what belongs to it", user))
		}
	}
	// Where the kernel listed the namespaces, a process that is not seen
	// matters only where no other is in its namespace.
	if t.Rung == RungProc || slices.ContainsFunc(t.Namespaces, unheld) {
		t.processesSeen(self)
	}
}

func (t *taking) processesSeen(self *linux.ProcTask) {
	first, err := linux.OpenProcTask(t.proc, "1")
	if errors.Is(err, fs.ErrNotExist) {
		t.unknown("the processes of others", errors.New(t.proc+" hides them (mount option hidepid)"))
	}
	pids, err2 := self.Namespace("ns/pid")
	if err == nil {
		defer first.Close()
		// procfs can be that of another pid namespace than ours.
		if n, err := first.Namespace("ns/pid"); err == nil {
			pids, err2 = n, nil
		}
	}
	if err2 == nil && pids != firstPidNS {
		t.unknown(ProcessesOutside, fmt.Errorf("%s is of the pid namespace pid:[%d] and shows only those in it", t.proc, pids))
	}
}
