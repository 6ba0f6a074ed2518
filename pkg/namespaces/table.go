package namespaces

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"syscall"
	"time"

	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/internal/linux"
	"github.com/mountward/mountward/pkg/internal/wait"
)

const (
	maxTries = 64      // processes of one namespace that are tried
	maxTable = 1 << 30 // bytes of a table
)

var (
	// ErrGone matches the error of a namespace that has ended since the
	// census, as far as can be seen.
	ErrGone = errors.New("the mount namespace has ended")

	errLeft     = errors.New("no process is in it any more")
	errNoCensus = errors.New("not the census of a machine")
	errTooLarge = fmt.Errorf("a mount table of more than %d bytes", maxTable)
)

// Table reads the mount table of a namespace now. Nothing of it is kept: on a
// large node the tables of all namespaces together are larger than its memory.
//
// It is the one of a process whose root directory is the namespace's own, since
// another sees only what is below its root. Where there is none, the kernel is
// asked for the mounts by the namespace's number (Linux 6.11; before 6.13
// without subtypes and sources), or a thread of ours enters it for a moment.
//
// The error is a *hostview.CannotTell; it matches ErrGone where the namespace
// has ended. A mount that is missing is only gone where it is missing in a
// second reading too: kernels before 5.8 can drop a line while others are
// unmounted.
func (c *Census) Table(ctx context.Context, n *Namespace) (*hostview.Table, error) {
	t, err := wait.For(ctx, maxWait, func() (*hostview.Table, error) { return c.table(ctx, n) }, nil)
	if err != nil {
		return nil, &hostview.CannotTell{Path: "mount table of " + n.String(), Why: err.Error(), Err: err}
	}
	return t, nil
}

func (c *Census) table(ctx context.Context, n *Namespace) (*hostview.Table, error) {
	if c.proc == "" {
		return nil, errNoCensus
	}
	t, err := c.ofProcesses(n, n.PIDs)
	if errors.Is(err, errLeft) && len(n.PIDs) > 0 {
		switch pid, e := c.find(ctx, n); {
		case e != nil:
			err = e
		case pid != 0:
			t, err = c.ofProcesses(n, []int{pid})
		}
	}
	if err == nil {
		return t, nil
	}
	t, byNumber := c.byNumber(n)
	if byNumber == nil {
		return t, nil
	}
	t, byEntering := c.byEntering(ctx, n)
	if byEntering == nil {
		return t, nil
	}
	ended := errors.Is(byEntering, ErrGone)
	if errors.Is(err, errLeft) && (n.Inode == 0 || ended) {
		return nil, ErrGone
	}
	if !errors.Is(byNumber, errNoNumber) && !errors.Is(byNumber, ErrGone) {
		err = errors.Join(err, byNumber)
	}
	if !ended && !errors.Is(byEntering, errNoWay) {
		err = errors.Join(err, byEntering)
	}
	return nil, err
}

// ofProcesses reads the table of the first process whose root directory is
// that of the namespace. Where we may not read which it is, of a few the one
// that sees most.
func (c *Census) ofProcesses(n *Namespace, pids []int) (*hostview.Table, error) {
	var best *hostview.Table
	var unsure []int
	err := errLeft
	for _, pid := range pids[:min(len(pids), maxTries)] {
		t, e := c.ofProcess(n, pid, true)
		switch {
		case e == nil:
			return t, nil
		case errors.Is(e, errRootUnknown):
			unsure = append(unsure, pid)
		case !errors.Is(e, errLeft):
			err = e
		}
	}
	const most = 3
	for i, read := 0, 0; i < len(unsure) && read < most; i++ {
		t, e := c.ofProcess(n, unsure[i], false)
		switch {
		case e == nil:
			if read++; best == nil || t.Len() > best.Len() {
				best = t
			}
		case !errors.Is(e, errLeft):
			err = e
		}
	}
	if best != nil {
		return best, nil
	}
	return nil, err
}

var errRootUnknown = errors.New("its root directory is not known")

func (c *Census) ofProcess(n *Namespace, pid int, sure bool) (*hostview.Table, error) {
	task, err := linux.OpenProcTask(c.proc, c.taskOf(pid))
	if err != nil {
		return nil, leftOr(err)
	}
	defer task.Close()
	root, err := task.Link("root")
	switch {
	case err == nil && root != "/":
		return nil, fmt.Errorf("process %d has the root directory %q and sees only what is below it", pid, root)
	case err != nil && sure:
		return nil, errRootUnknown
	}
	// A process can enter another namespace at any time. An open table stays
	// with that in which it was opened.
	before := inNamespace(task, n)
	m, err := task.Open("mountinfo")
	if err != nil {
		return nil, leftOr(err)
	}
	defer m.Close()
	if before == no || inNamespace(task, n) == no {
		return nil, errLeft
	}
	t, err := readTable(m)
	if err != nil {
		return nil, leftOr(err)
	}
	if before == unknown {
		if e, ok := t.First("/"); !ok || strconv.Itoa(e.ID) != n.root {
			return nil, errLeft
		}
	}
	return t, nil
}

type answer int

const (
	unknown answer = iota
	yes
	no
)

func inNamespace(task *linux.ProcTask, n *Namespace) answer {
	inode, err := task.Namespace("ns/mnt")
	switch {
	case err != nil:
		return unknown
	case inode == n.Inode:
		return yes
	}
	return no
}

// leftOr tells the end of a process from worse: procfs refuses the table of one
// that is listed still and in no namespace any more with EINVAL.
func leftOr(err error) error {
	if linux.Gone(err) || errors.Is(err, syscall.EINVAL) {
		return errLeft
	}
	return err
}

func readTable(r io.Reader) (*hostview.Table, error) {
	return hostview.ReadTable(&limited{r, maxTable})
}

// limited fails where more is read: a table that was cut off would say that
// mounts are gone.
type limited struct {
	r    io.Reader
	left int
}

// Read reads on.
func (l *limited) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if l.left -= n; l.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}

// maxWait bounds what only the kernel is asked: for a table of 50,000 mounts it
// takes parts of a second, and more while others mount.
const maxWait = 30 * time.Second
