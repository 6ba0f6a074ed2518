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
// evidence says how it was found and what was passed over. A process whose root
// is not that of process 1 is passed over: anybody can name a process in a
// container "kubelet". Configuration files are not read.
func KubeletRoot(proc string) (root, evidence string) {
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
	for _, pid := range pids {
		args, err := commandLine(proc, pid)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ESRCH) {
				pass(err.Error())
			}
			continue
		}
		value, ok := rootDirectory(args)
		if !ok {
			continue
		}
		name := fmt.Sprintf("process %d %q", pid, args[0])
		clean, absolute := facts.CleanAbs(value)
		if !absolute {
			pass(fmt.Sprintf("%s has root-dir %q, which is not absolute", name, value))
			continue
		}
		if host := onHost(proc, pid); host.Truth != facts.Yes {
			pass(name + ": " + host.Why)
			continue
		}
		return clean, evidenceOf("root-dir of "+name, passed)
	}
	return DefaultKubeletRoot, evidenceOf("default", passed)
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
// kubelet, as the kubelet takes it.
func rootDirectory(args []string) (value string, ok bool) {
	if len(args) == 0 {
		return "", false
	}
	switch path.Base(args[0]) {
	case "kubelet":
		return flag(args[1:], "root-dir", func(v string) (string, bool) { return v, true })
	case "k3s", "rke2":
		return flag(args[1:], "kubelet-arg", func(v string) (string, bool) {
			return strings.CutPrefix(strings.TrimLeft(v, "-"), "root-dir=")
		})
	}
	return "", false
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
