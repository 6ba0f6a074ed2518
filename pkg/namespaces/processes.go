package namespaces

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/mountward/mountward/pkg/internal/linux"
)

const (
	maxProcesses = 4 << 20 // the kernel's PID_MAX_LIMIT
	maxSmallFile = 64 << 10
)

// processes reads all processes and puts them into their namespaces.
func (t *taking) processes(ctx context.Context) error {
	dir, err := os.Open(t.proc)
	if err != nil {
		return err
	}
	defer dir.Close()
	names, err := linux.ReadNames(dir, maxProcesses)
	if err != nil {
		return err
	}
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	boot := time.Time{}
	if text, err := linux.ReadAttribute(dir, "stat"); err == nil {
		boot = bootTime([]byte(text))
	}
	for i, seen := range readAll(ctx, t.proc, pids, boot) {
		if errors.Is(seen.err, errNotRead) {
			t.unknown(fmt.Sprintf("%d processes from %d on", len(pids)-i, pids[i]), ctx.Err())
			break
		}
		if seen.err != nil && !linux.Gone(seen.err) {
			t.unknown(fmt.Sprintf("process %d", pids[i]), seen.err)
		}
		for _, s := range seen.tasks {
			t.place(s)
		}
	}
	slices.SortFunc(t.Processes, func(a, b Process) int {
		return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(a.Thread, b.Thread))
	})
	return nil
}

// place puts a process into its namespace.
func (t *taking) place(s located) {
	t.Processes = append(t.Processes, s.Process)
	id := cmp.Or(s.Thread, s.PID)
	switch {
	case s.inode != 0:
		n := t.namespace(s.inode)
		n.PIDs = append(n.PIDs, id)
	case s.err != nil:
		t.closed = append(t.closed, id)
		t.refuse = cmp.Or(t.refuse, s.err)
	}
}

// located is a process and its mount namespace: the inode number, or why that
// could not be read. One that has ended but is still listed is in none.
type located struct {
	Process
	inode uint64
	err   error
}

// seen is what was read of one process and its threads.
type seen struct {
	tasks []located
	err   error
}

var errNotRead = errors.New("not read")

// readAll reads the processes until the context ends.
func readAll(ctx context.Context, proc string, pids []int, boot time.Time) []seen {
	all := make([]seen, len(pids))
	each(len(pids), func(i int) {
		if ctx.Err() != nil {
			all[i].err = errNotRead
			return
		}
		all[i].tasks, all[i].err = readProcess(proc, pids[i], boot)
	})
	return all
}

// readProcess reads one process, and those of its threads that are in another
// mount namespace. All is read through one descriptor, so of one process.
func readProcess(proc string, pid int, boot time.Time) ([]located, error) {
	task, err := linux.OpenProcTask(proc, strconv.Itoa(pid))
	if err != nil {
		return nil, err
	}
	defer task.Close()
	line, err := task.Read("stat", maxSmallFile)
	if err != nil {
		return nil, err
	}
	s, err := parseStat(line)
	if err != nil {
		return nil, err
	}
	p := Process{PID: pid, Comm: s.comm, Started: s.started(boot), Parent: s.parent, Kernel: s.kernel}
	p.User, _ = task.Namespace("ns/user") // 0: not known
	if !s.kernel {
		if text, err := task.Read("status", maxSmallFile); err == nil {
			p.UID = effectiveUID(text)
		}
		if text, err := task.Read("cgroup", maxSmallFile); err == nil {
			p.Owner = ownerByCgroup(string(text))
		} else if !linux.Gone(err) {
			p.Owner.Why = err.Error()
		}
	}
	inode, err := task.Namespace("ns/mnt")
	if errors.Is(err, syscall.ESRCH) {
		return nil, err
	}
	all := []located{{p, inode, err}}
	if s.zombie {
		all[0].err = nil
	}
	if s.threads > 1 && (err == nil || s.zombie) {
		threads, err := readThreads(task, p, inode, boot)
		return append(all, threads...), err
	}
	return all, nil
}

// readThreads looks for those in another mount namespace than that of the
// process: any other, where the first thread has ended and so left its own.
func readThreads(task *linux.ProcTask, p Process, inode uint64, boot time.Time) ([]located, error) {
	names, err := task.Names("task", maxProcesses)
	if err != nil {
		return nil, err
	}
	var all []located
	for _, name := range names {
		tid, err := strconv.Atoi(name)
		if err != nil || tid == p.PID {
			continue
		}
		other, err := task.Namespace("task/" + name + "/ns/mnt")
		if err != nil || other == inode {
			continue // ended, or where the process is
		}
		thread := p
		thread.Thread = tid
		if line, err := task.Read("task/"+name+"/stat", maxSmallFile); err == nil {
			if s, err := parseStat(line); err == nil {
				thread.Comm, thread.Started = s.comm, s.started(boot)
			}
		}
		all = append(all, located{thread, other, nil})
	}
	return all, nil
}
