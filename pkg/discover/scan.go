package discover

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// patience is how long a command line is waited for. It is read from the memory
// of the process, which can be waiting for a dead file server.
const patience = time.Second

// process is a process of the host by whose name more is asked about it.
type process struct {
	pid  int
	comm string
	user int
	args []string // never empty, but of a foreign one that has not been read
}

func (p process) String() string {
	name := p.comm
	if len(p.args) > 0 {
		name = p.args[0]
	}
	return fmt.Sprintf("process %d %q", p.pid, name)
}

// processes are those of the host that can be a kubelet or a runtime, ascending.
type processes struct {
	kubelets, runtimes []process // root's
	foreign            []process // of other users
	unread             bool      // root has one whose command line could not be read
	passedKubelets     []string  // of other roots: a container's
	passedRuntimes     []string
	errs               []string // what could not be read
}

// scan reads the names of all processes, and the command lines of those that
// have the name of a kubelet or a runtime. A process whose root is not that of
// process 1 is passed over: anybody can name a process in a container
// "kubelet". Its command line is not even read, since that can be made to hang,
// and for the same reason not yet that of a process which is not root's.
// A wait of 0 is for ever.
func scan(ctx context.Context, proc string, wait time.Duration) processes {
	var all processes
	pids, err := hostview.Processes(proc)
	if err != nil {
		all.errs = append(all.errs, err.Error())
	}
	for _, pid := range pids {
		comm, err := name(proc, pid)
		if err != nil {
			all.failed(err)
			continue
		}
		kubelet, runtime := runsKubelet(comm), isRuntime(comm)
		if !kubelet && !runtime {
			continue
		}
		if host := ofHost(proc, pid); host.Truth != facts.Yes {
			if host.Truth == facts.Unknown && gone(proc, pid) {
				continue
			}
			all.pass(kubelet, fmt.Sprintf("process %d %q: %s", pid, comm, host.Why))
			continue
		}
		user, err := userOf(proc, pid)
		if err != nil {
			if !gone(proc, pid) {
				all.pass(kubelet, fmt.Sprintf("process %d %q: cannot tell whose it is: %v", pid, comm, err))
			}
			continue
		}
		if user != 0 {
			all.foreign = append(all.foreign, process{pid: pid, comm: comm, user: user})
			continue
		}
		args, err := CommandLine(ctx, proc, pid, wait)
		if err != nil {
			all.unread = all.unread || !gone(proc, pid)
			all.failed(fmt.Errorf("process %d %q: %w", pid, comm, err))
			continue
		}
		if len(args) == 0 || args[0] == "" { // kernel threads and zombies have none
			continue
		}
		p := process{pid: pid, comm: comm, args: args}
		if kubelet {
			all.kubelets = append(all.kubelets, p)
		} else {
			all.runtimes = append(all.runtimes, p)
		}
	}
	return all
}

// mostPassed bounds what is told: anybody can start more of them.
const mostPassed = 4

func (p *processes) pass(kubelet bool, why string) {
	to := &p.passedRuntimes
	if kubelet {
		to = &p.passedKubelets
	}
	if len(*to) < mostPassed {
		*to = append(*to, why)
	}
}

// failed keeps an error unless it says that the process has ended.
func (p *processes) failed(err error) {
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ESRCH) && len(p.errs) < mostPassed {
		p.errs = append(p.errs, err.Error())
	}
}

// name returns the kernel's own name of a process, which never waits for it:
// what was executed, 15 bytes at most, or for k3s "k3s-server".
func name(proc string, pid int) (string, error) {
	text, err := os.ReadFile(fmt.Sprintf("%s/%d/comm", proc, pid))
	return strings.TrimSuffix(string(text), "\n"), err
}

func gone(proc string, pid int) bool {
	_, err := os.Stat(fmt.Sprintf("%s/%d", proc, pid))
	return errors.Is(err, fs.ErrNotExist)
}

func runsKubelet(comm string) bool {
	for _, prefix := range []string{"kubelet", "kubelite", "k3s", "rke2", "k0s", "hyperkube"} {
		if strings.HasPrefix(comm, prefix) {
			return true
		}
	}
	return false
}

func isRuntime(comm string) bool {
	switch comm {
	case "containerd", "crio", "dockerd", "cri-dockerd":
		return true
	default:
		return false
	}
}

// ofHost answers whether a process is one of the host: it has the root of
// process 1, or is a service of a snap, which has a root of its own and the
// control group that the host's service manager put it in.
func ofHost(proc string, pid int) facts.Answer {
	host := hostview.OnHost(proc, pid)
	if host.Truth == facts.No && snap(proc, pid) {
		return facts.Is(true, "it is a service of a snap")
	}
	return host
}

func snap(proc string, pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("%s/%d/cgroup", proc, pid))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.SplitN(line, ":", 3)
		if len(fields) == 3 && (fields[0] == "0" || fields[1] == "name=systemd") && strings.HasPrefix(fields[2], "/system.slice/snap.") {
			return true
		}
	}
	return false
}
