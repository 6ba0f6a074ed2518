package discover

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// userOf returns whose a process is, as the reader of proc sees users: the root
// of a user namespace that somebody made is that somebody. A set-user-ID program
// is of who started it.
//
// Source: Uid in proc_pid_status(5), the real and the effective one.
func userOf(proc string, pid int) (int, error) {
	file := fmt.Sprintf("%s/%d/status", proc, pid)
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) { // a newline in a name is escaped
		ids, ok := strings.CutPrefix(line, "Uid:")
		if fields := strings.Fields(ids); ok && len(fields) > 1 {
			started, err := strconv.Atoi(fields[0])
			acts, err2 := strconv.Atoi(fields[1])
			if started == 0 {
				started = acts
			}
			return started, errors.Join(err, err2)
		}
	}
	return 0, fmt.Errorf("read %s: no Uid in it", file)
}

// others decides about the processes that are not root's. Anybody can start one
// of any name, with what arguments, user and mount namespaces he likes, so where
// root runs a kubelet or a runtime, nobody else's counts. Else the node can be
// one that a user runs without root: those of the one who asks count, or of the
// only one who runs a kubelet, and why says so then.
func (p *processes) others(ctx context.Context, proc string, wait time.Duration, asks int) (why string) {
	switch {
	case len(p.foreign) == 0:
		return ""
	case p.unread || len(p.runtimes) > 0 || slices.ContainsFunc(p.kubelets, process.runsKubelet):
		p.passForeign(-1)
		return ""
	}
	users := map[int]bool{}
	for i := range p.foreign {
		f := &p.foreign[i]
		var err error
		if f.args, err = CommandLine(ctx, proc, f.pid, wait); err != nil {
			p.failed(fmt.Errorf("%s: %w", f, err))
		} else if runsKubelet(f.comm) && f.runsKubelet() {
			users[f.user] = true
		}
	}
	user := -1
	switch {
	case users[asks]:
		user = asks
	case len(users) == 1:
		for user = range users {
			why = fmt.Sprintf("root runs none, and anybody can start a process of that name: those of user %d are taken for the node's; ask as that user, or write [host] kubelet_root", user)
		}
	case len(users) > 1:
		why = fmt.Sprintf("root runs none, and %d users have a process that is named like one: cannot tell whose is the node's; write [host] kubelet_root", len(users))
	}
	for _, f := range p.foreign {
		switch {
		case f.user != user || len(f.args) == 0 || f.args[0] == "":
		case runsKubelet(f.comm):
			p.kubelets = append(p.kubelets, f)
		default:
			p.runtimes = append(p.runtimes, f)
		}
	}
	p.passForeign(user)
	return why
}

// passForeign passes over what is of another user than that.
func (p *processes) passForeign(user int) {
	for _, f := range p.foreign {
		if f.user != user {
			p.pass(runsKubelet(f.comm), fmt.Sprintf("%s: it is of user %d", f, f.user))
		}
	}
	p.foreign = nil
}

func (p process) runsKubelet() bool {
	_, runs := rootDirectory(p.args)
	return runs
}
