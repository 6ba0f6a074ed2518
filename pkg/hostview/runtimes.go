package hostview

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/linux"
)

// Runtime is a state directory of containerd in which a container runs, and the
// mount namespace where it is that.
type Runtime struct {
	State     string
	Namespace uint64 // the inode number of the mount namespace
	Shim      int    // a process in that namespace, for Options.PID
	Evidence  string
}

// DefaultStates returns where containerd keeps its state by default: itself,
// and in k3s and rke2, k0s and MicroK8s. Which of them exist is not looked at.
func DefaultStates() []string {
	return []string{
		"/run/containerd",
		"/run/k3s/containerd",
		"/run/k0s/containerd",
		"/var/snap/microk8s/common/run/containerd",
	}
}

// Runtimes finds the state directories of containerd by the shims that run:
// a shim's working directory is the bundle of its first container. containerd
// itself need not run. Each directory is listed once for each mount namespace.
// Reading the working directory takes the rights of PTRACE_MODE_READ.
//
// Anybody can name a process like a shim: one that is no process of the host's
// root user, see hostShim, is passed over. With an error the list is what could
// be told.
func Runtimes(proc string) ([]Runtime, error) {
	pids, err := Processes(proc)
	if err != nil {
		return nil, err
	}
	var all []Runtime
	var errs []error
	known := map[Runtime]bool{} // by State and Namespace
	for _, pid := range pids {
		r, named, err := shim(proc, pid)
		key := Runtime{State: r.State, Namespace: r.Namespace}
		if err == nil && (!named || known[key]) {
			continue
		}
		var host facts.Answer
		if err == nil {
			host = hostShim(proc, pid)
		} else {
			host = facts.CannotTell(err.Error())
		}
		switch {
		case host.Truth == facts.Yes:
			known[key] = true
			all = append(all, r)
		case host.Truth == facts.Unknown && !gone(proc, pid):
			errs = append(errs, fmt.Errorf("process %d, which is named like a shim: cannot tell whether it is one: %s", pid, host.Why))
		}
	}
	return all, errors.Join(errs...)
}

// gone reports whether a process has no working directory any more: a zombie
// has none either.
func gone(proc string, pid int) bool {
	_, err := os.Readlink(fmt.Sprintf("%s/%d/cwd", proc, pid))
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH)
}

// shim returns what a process that is named like a shim works on, false of any
// other.
func shim(proc string, pid int) (Runtime, bool, error) {
	dir := fmt.Sprintf("%s/%d", proc, pid)
	comm, err := os.ReadFile(dir + "/comm")
	// The kernel keeps 15 bytes: "containerd-shim-runc-v2" is cut.
	if err != nil || !strings.HasPrefix(string(comm), "containerd-shim") {
		return Runtime{}, false, err
	}
	cwd, err := os.Readlink(dir + "/cwd")
	if err != nil {
		return Runtime{}, false, err
	}
	state, ok := stateOf(cwd)
	if !ok {
		return Runtime{}, false, nil
	}
	namespace, err := linux.MountNamespace(proc, strconv.Itoa(pid))
	if err != nil {
		return Runtime{}, false, err
	}
	return Runtime{state, namespace, pid, fmt.Sprintf("working directory %s of the shim, process %d", cwd, pid)}, true, nil
}

// stateOf returns the state directory that a bundle is in. The bundle may have
// been removed.
func stateOf(bundle string) (string, bool) {
	state, rest, ok := cutLast(bundle, "/"+runtimeV2+"/")
	return state, ok && strings.HasPrefix(state, "/") && strings.Count(rest, "/") == 1
}

func cutLast(s, sep string) (before, after string, ok bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
