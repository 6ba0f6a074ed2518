package hostview

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/moby/sys/mountinfo"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/linux"
)

// hostShim answers whether a process is root's and the host's: not in a pid
// namespace below ours, with the root of process 1, and executing a file that
// is there. A container that mounts the host's "/" can change
// its root to it, but what it executes then is its image's, or the host's own.
func hostShim(proc string, pid int) facts.Answer {
	for _, is := range []func(string, int) facts.Answer{rootsOwn, OnHost, executesHosts} {
		if answer := is(proc, pid); answer.Truth != facts.Yes {
			return answer
		}
	}
	return facts.Is(true, "it is root's, has the root of process 1 and executes a file of it")
}

// rootsOwn reads <proc>/<pid>/status. NSpid has a number for each pid namespace
// that the process is in, from that of proc downward.
func rootsOwn(proc string, pid int) facts.Answer {
	file := fmt.Sprintf("%s/%d/status", proc, pid)
	text, err := os.ReadFile(file)
	if err != nil {
		return facts.CannotTell(err.Error())
	}
	fields := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok {
			fields[key] = strings.Fields(value)
		}
	}
	uids, pids := fields["Uid"], fields["NSpid"]
	if len(uids) < 2 || len(pids) == 0 {
		return facts.CannotTell("read " + file + ": no Uid or NSpid in it")
	}
	if len(pids) > 1 {
		return facts.Is(false, "it is in a pid namespace below")
	}
	return facts.Is(uids[0] == "0" && uids[1] == "0", "its user is "+uids[1])
}

// executesHosts answers whether what the process executes is on a mount that it
// sees, or process 1. A file of another root, an image's, is on one that neither
// does. The file itself may have been replaced: shims outlive an upgrade.
func executesHosts(proc string, pid int) facts.Answer {
	exe, err := linux.OpenMagic(fmt.Sprintf("%s/%d/exe", proc, pid))
	if err != nil {
		return facts.CannotTell(err.Error())
	}
	defer closeReference(exe)
	id, err := linux.MountID(exe)
	if err != nil {
		return facts.CannotTell(err.Error())
	}
	for _, sees := range []int{pid, 1} {
		_, err = firstMount(fmt.Sprintf("%s/%d/mountinfo", proc, sees), func(info *mountinfo.Info) bool { return info.ID == id })
		if err == nil {
			return facts.Is(true, fmt.Sprintf("what it executes is on mount %d, which process %d sees", id, sees))
		}
		if !errors.Is(err, errNoMount) {
			return facts.CannotTell(err.Error())
		}
	}
	return facts.Is(false, fmt.Sprintf("what it executes is on mount %d, which neither it nor process 1 sees", id))
}
