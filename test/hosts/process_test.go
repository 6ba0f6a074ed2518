package hosts_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The namespaces that the kernel makes at boot.
const (
	firstMount = 4026531841
	firstUser  = 4026531837
	firstPID   = 4026531836
	innerPID   = 4026532785 // of a node that is a container
)

// process is a line of the table of processes:
//
//	PID PARENT UID MOUNTNS USERNS COMM CGROUP COMMAND...
//
// The first namespace of the table is that of process 1, "init" the first user
// namespace; "-" is a cgroup of nobody, and no command, as a kernel thread has.
// "?" for a mount namespace is one whose link cannot be read; "NAME?" has a
// table that can.
//
// The pid namespace is the first of the kernel, or one of its own where the
// archive's file "container" says that the node is a container, and another for
// the process of a container of the node.
type process struct {
	pid, parent, uid      int
	mount, user           string
	comm, cgroup, command string
	mountInode, userInode int
}

// writeProcesses makes proc/PID of each line.
func writeProcesses(t *testing.T, root string, text []byte, tables map[string]string) {
	t.Helper()
	var mounts, users []string
	for line := range nonEmpty(text) {
		p := parseProcess(t, line)
		p.mountInode = firstMount + 660*number(&mounts, p.mount)
		p.userInode = firstUser + 660*number(&users, p.user)
		p.write(t, filepath.Join(root, "proc"), tables[strings.TrimSuffix(p.mount, "?")])
	}
	if _, err := os.Lstat(filepath.Join(root, "proc/1")); err == nil {
		must(t, os.Symlink("1", filepath.Join(root, "proc/self")))
	}
}

// number is the place of a name in a list, which is made longer if need be.
func number(list *[]string, name string) int {
	if i := slices.Index(*list, name); i >= 0 {
		return i
	}
	*list = append(*list, name)
	return len(*list) - 1
}

func parseProcess(t *testing.T, line string) process {
	t.Helper()
	f := strings.Fields(line)
	if len(f) < 8 {
		t.Fatalf("processes: %q: want PID PARENT UID MOUNTNS USERNS COMM CGROUP COMMAND...", line)
	}
	var p process
	for i, to := range []*int{&p.pid, &p.parent, &p.uid} {
		n, err := strconv.Atoi(f[i])
		must(t, err)
		*to = n
	}
	p.mount, p.user, p.comm, p.cgroup, p.command = f[3], f[4], f[5], f[6], strings.Join(f[7:], " ")
	return p
}

// write makes the files and links that the kernel has for a process.
func (p process) write(t *testing.T, proc, table string) {
	t.Helper()
	dir := filepath.Join(proc, strconv.Itoa(p.pid))
	cgroup, command := p.cgroup, strings.ReplaceAll(p.command, " ", "\x00")+"\x00"
	if cgroup == "-" {
		cgroup = "/"
	}
	if p.command == "-" {
		command = ""
	}
	pids, pidInode := strconv.Itoa(p.pid), pidNamespace(filepath.Dir(proc))
	if strings.Contains(cgroup, "kubepods") || strings.Contains(cgroup, "docker") {
		pids += "\t1" // in a pid namespace of its own
		pidInode = innerPID + p.pid
	}
	for _, at := range []string{dir, filepath.Join(dir, "task", strconv.Itoa(p.pid))} {
		must(t, os.MkdirAll(filepath.Join(at, "ns"), 0o755))
		must(t, os.MkdirAll(filepath.Join(at, "fd"), 0o755))
		for name, text := range map[string]string{
			"comm":      p.comm + "\n",
			"cmdline":   command,
			"cgroup":    "0::" + cgroup + "\n",
			"environ":   "",
			"setgroups": "allow\n",
			"status": fmt.Sprintf("Name:\t%s\nState:\tS (sleeping)\nTgid:\t%d\nPid:\t%d\nPPid:\t%d\nUid:\t%d\t%d\t%d\t%d\nGid:\t0\t0\t0\t0\nNSpid:\t%s\nThreads:\t1\n",
				p.comm, p.pid, p.pid, p.parent, p.uid, p.uid, p.uid, p.uid, pids),
			"stat": fmt.Sprintf("%d (%s) S %d %d %d 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 %d 0 0%s\n",
				p.pid, p.comm, p.parent, p.pid, p.pid, 100*p.pid, strings.Repeat(" 0", 28)),
		} {
			if _, err := os.Lstat(filepath.Join(at, name)); err != nil { // else the archive has it
				must(t, os.WriteFile(filepath.Join(at, name), []byte(text), 0o644))
			}
		}
		for name, target := range map[string]string{
			"ns/user": fmt.Sprintf("user:[%d]", p.userInode),
			"ns/pid":  fmt.Sprintf("pid:[%d]", pidInode),
			"root":    "/",
			"cwd":     "/",
			"exe":     filepath.Join(filepath.Dir(proc), strings.Fields(p.command)[0]), // never of this machine
		} {
			must(t, os.Symlink(target, filepath.Join(at, name)))
		}
		if strings.HasSuffix(p.mount, "?") { // what is no link reads like one that may not be read
			must(t, os.WriteFile(filepath.Join(at, "ns/mnt"), nil, 0o644))
		} else {
			must(t, os.Symlink(fmt.Sprintf("mnt:[%d]", p.mountInode), filepath.Join(at, "ns/mnt")))
		}
		if table != "" {
			must(t, os.Link(table, filepath.Join(at, "mountinfo")))
		}
	}
}

// pidNamespace is that of process 1 of a node.
func pidNamespace(root string) int {
	if _, err := os.Lstat(filepath.Join(root, "container")); err == nil {
		return innerPID
	}
	return firstPID
}
