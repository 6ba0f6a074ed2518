package hostview

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/moby/sys/mountinfo"

	"github.com/mountward/mountward/pkg/facts"
)

// DefaultKubeletRoot is the kubelet's --root-dir where none is given.
const DefaultKubeletRoot = "/var/lib/kubelet"

// KubeletRoot finds the kubelet's root directory on the command line of a
// kubelet, or of a k3s or rke2 that runs one, and else returns the default.
// found says that there is such a process, with or without a root-dir; evidence
// says how the root was found and what was passed over. Configuration files are
// not read.
//
// A process whose root is not that of process 1 is passed over: anybody can
// name a process in a container "kubelet". Its command line is not even read,
// since that waits for the process's memory, which can hang on a dead file
// server or be made to. A kubelet's can hang too: do not wait for the answer.
func KubeletRoot(proc string) (root, evidence string, found bool) {
	var passed []string
	pass := func(why string) {
		const most = 4 // anybody can start more of them
		if len(passed) < most {
			passed = append(passed, why)
		}
	}
	pids, err := processes(proc)
	if err != nil {
		pass(err.Error())
	}
	unset := "" // the process that runs a kubelet without a root-dir
	for _, pid := range pids {
		args, err := kubeletArgs(proc, pid)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ESRCH) {
				pass(err.Error())
			}
			continue
		}
		value, given, runs := rootDirectory(args)
		if !runs {
			continue
		}
		name := fmt.Sprintf("process %d %q", pid, args[0])
		clean, absolute := facts.CleanAbs(value)
		switch {
		case !given && unset == "":
			unset = name
		case given && !absolute:
			pass(fmt.Sprintf("%s has root-dir %q, which is not absolute", name, value))
		case given:
			return clean, evidenceOf("root-dir of "+name, passed), true
		}
	}
	if unset != "" {
		return DefaultKubeletRoot, evidenceOf("default of "+unset, passed), true
	}
	return DefaultKubeletRoot, evidenceOf("default", passed), false
}

// kubeletArgs returns the command line of a process that has the name of one
// that runs a kubelet and is no container's, and nil of any other.
func kubeletArgs(proc string, pid int) ([]string, error) {
	// The kernel's own name of a process never waits for it: what was executed,
	// or for k3s "k3s-server".
	text, err := os.ReadFile(fmt.Sprintf("%s/%d/comm", proc, pid))
	if err != nil {
		return nil, err
	}
	comm := strings.TrimSuffix(string(text), "\n")
	if !strings.HasPrefix(comm, "kubelet") && !strings.HasPrefix(comm, "k3s") && !strings.HasPrefix(comm, "rke2") {
		return nil, nil
	}
	if host := onHost(proc, pid); host.Truth != facts.Yes {
		return nil, fmt.Errorf("process %d %q: %s", pid, comm, host.Why)
	}
	return commandLine(proc, pid)
}

func evidenceOf(found string, passed []string) string {
	if len(passed) == 0 {
		return found
	}
	return found + "; passed over: " + strings.Join(passed, "; ")
}

// onHost answers whether a process has the root of process 1: the same
// superblock and path in it, in whatever mount namespace.
func onHost(proc string, pid int) facts.Answer {
	one, err := rootIn(proc, 1)
	its, err2 := rootIn(proc, pid)
	if err := errors.Join(err, err2); err != nil {
		return facts.CannotTell(err.Error())
	}
	return facts.Is(identity(one) == identity(its), fmt.Sprintf("its root is %s %s, that of process 1 is %s %s",
		identity(its).Device, its.Root, identity(one).Device, one.Root))
}

func rootIn(proc string, pid int) (*mountinfo.Info, error) {
	return firstRoot(fmt.Sprintf("%s/%d/mountinfo", proc, pid))
}

func identity(info *mountinfo.Info) facts.Identity {
	return facts.Identity{Device: facts.DeviceNumber{Major: uint32(info.Major), Minor: uint32(info.Minor)}, Root: info.Root}
}

func processes(proc string) ([]int, error) {
	entries, err := os.ReadDir(proc)
	var pids []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids, err
}

func commandLine(proc string, pid int) ([]string, error) {
	text, err := os.ReadFile(fmt.Sprintf("%s/%d/cmdline", proc, pid))
	if err != nil || len(text) == 0 { // kernel threads have none
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00"), nil
}

// rootDirectory returns the last root-dir of a command line that runs a
// kubelet, as the kubelet takes it, and whether it is given at all.
func rootDirectory(args []string) (value string, given, runs bool) {
	if len(args) == 0 {
		return "", false, false
	}
	switch path.Base(args[0]) {
	case "kubelet":
		value, given = flag(args[1:], "root-dir", func(v string) (string, bool) { return v, true })
		return value, given, true
	case "k3s", "rke2":
		value, given = flag(args[1:], "kubelet-arg", func(v string) (string, bool) {
			return strings.CutPrefix(strings.TrimLeft(v, "-"), "root-dir=")
		})
		return value, given, given || slices.Contains(args, "server") || slices.Contains(args, "agent")
	}
	return "", false, false
}

// flag returns the last accepted value of --name VALUE or --name=VALUE.
func flag(args []string, name string, accept func(string) (string, bool)) (value string, ok bool) {
	for i, arg := range args {
		dashed, is := strings.CutPrefix(arg, "-")
		if !is {
			continue
		}
		key, v, joined := strings.Cut(strings.TrimPrefix(dashed, "-"), "=")
		if key != name {
			continue
		}
		if !joined && i+1 < len(args) {
			v = args[i+1]
		}
		if accepted, good := accept(v); good {
			value, ok = accepted, true
		}
	}
	return value, ok
}
