package exposure

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/namespaces"
	"github.com/mountward/mountward/pkg/overlay"
	"github.com/mountward/mountward/pkg/target"
	"github.com/mountward/mountward/pkg/volumes"
)

const (
	uidA = "0a1b2c3d-0000-4000-8000-00000000000a"
	uidB = "0a1b2c3d-0000-4000-8000-00000000000b"
	root = "/var/lib/kubelet"

	volume = root + "/pods/" + uidA + "/volumes/kubernetes.io~csi/pvc-1/mount"
	secret = root + "/pods/" + uidA + "/volumes/kubernetes.io~projected/token"

	hostNS, hostUserNS = 100, 900
)

// hostTable is a node with one volume (253:7) and one token (0:50) of pod A.
var hostTable = lines(
	"20 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw",
	"30 20 253:7 / "+volume+" rw shared:7 - xfs /dev/vg0/pvc-1 rw",
	"31 20 0:50 / "+secret+" rw shared:8 - tmpfs tmpfs rw",
)

var (
	pvc1  = target.Target{Name: "vg0/pvc-1", Kind: target.KindLV, Block: dev(253, 7), Blocks: []facts.DeviceNumber{dev(253, 7)}, Superblocks: []target.Superblock{{Device: dev(253, 7)}}}
	token = target.Target{Name: secret, Kind: target.KindPath, Path: secret, Superblocks: []target.Superblock{{Device: dev(0, 50), Root: "/", FSType: "tmpfs"}}}
)

func lines(l ...string) string { return strings.Join(l, "\n") + "\n" }

func dev(major, minor uint32) facts.DeviceNumber {
	return facts.DeviceNumber{Major: major, Minor: minor}
}

// pathOf is a target by a path of the node's root file system.
func pathOf(path string) target.Target {
	return target.Target{Name: path, Kind: target.KindPath, Path: path, Superblocks: []target.Superblock{{Device: dev(8, 1), Root: path, FSType: "ext4"}}}
}

// node is a node as text: the readings of each table, one after the other, the
// last one again and again.
type node struct {
	t *testing.T
	Node
	mu       sync.Mutex
	readings map[uint64][]string
	members  map[uint64][]namespaces.Process
	errs     map[uint64]error
	uppers   map[facts.DeviceNumber]volumes.Upper // of overlays; else what the host's table says is proved
	stats    map[string]Stat                      // by the link below Proc
}

// upper proves what the host's table says of the name.
func (n *node) upper(_ context.Context, e hostview.Entry, _ string, _ int) volumes.Upper {
	if u, ok := n.uppers[e.Device]; ok {
		return u
	}
	name := overlay.Parse(e.SuperOptions).Upper
	table, err := hostview.ReadTable(strings.NewReader(n.readings[hostNS][0]))
	if err != nil {
		n.t.Error(err)
		return volumes.Upper{}
	}
	under, ok := table.Covering(name)
	return volumes.Upper{Name: name, At: under.HostMount(name), Verified: facts.Is(ok, "equal handles"), ByHandle: true}
}

func (n *node) stat(path string) (Stat, error) {
	if st, ok := n.stats[strings.TrimPrefix(path, n.Proc+"/")]; ok {
		return st, nil
	}
	return Stat{}, os.ErrNotExist
}

// open gives a process an open file: "fd/3" or "cwd".
func (n *node) open(pid int, link, text string, st Stat) {
	n.t.Helper()
	at := fmt.Sprintf("%d/%s", pid, link)
	if err := os.MkdirAll(filepath.Dir(filepath.Join(n.Proc, at)), 0o755); err != nil {
		n.t.Fatal(err)
	}
	if err := os.Symlink(text, filepath.Join(n.Proc, at)); err != nil {
		n.t.Fatal(err)
	}
	if n.stats == nil {
		n.stats = map[string]Stat{}
	}
	n.stats[at] = st
}

func (n *node) Members(ns *namespaces.Namespace) []namespaces.Process { return n.members[ns.Inode] }

func (n *node) Table(_ context.Context, ns *namespaces.Namespace) (*hostview.Table, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.errs[ns.Inode]; err != nil {
		return nil, err
	}
	all := n.readings[ns.Inode]
	if len(all) == 0 {
		return nil, errors.New("no such table")
	}
	if len(all) > 1 {
		n.readings[ns.Inode] = all[1:]
	}
	return hostview.ReadTable(strings.NewReader(all[0]))
}

// newNode is a node with nothing but its own mount namespace.
func newNode(t *testing.T, host ...string) *node {
	t.Helper()
	n := &node{t: t, readings: map[uint64][]string{}, members: map[uint64][]namespaces.Process{}, errs: map[uint64]error{}}
	n.Node = Node{
		Proc: t.TempDir(), Census: n, Host: []uint64{hostNS}, KubeletRoot: root,
		Now:   func() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.FixedZone("", 7200)) },
		Upper: n.upper, Stat: n.stat,
	}
	if len(host) == 0 {
		host = []string{hostTable}
	}
	n.namespace(hostNS, hostUserNS, host...)
	n.process(hostNS, namespaces.Process{PID: 1, Comm: "systemd", User: hostUserNS}, "0", "000001ffffffffff", "0 0 4294967295", "pid:[1]")
	return n
}

func (n *node) namespace(inode, user uint64, readings ...string) {
	n.Namespaces = append(n.Namespaces, &namespaces.Namespace{Inode: inode, User: user})
	n.readings[inode] = readings
}

// process puts a process into a namespace, with its files in procfs.
func (n *node) process(inode uint64, p namespaces.Process, uid, caps, idMap, pidNS string) {
	n.t.Helper()
	dir := filepath.Join(n.Proc, fmt.Sprint(p.PID))
	n.write(filepath.Join(dir, "status"), fmt.Sprintf("Name:\tx\nUid:\t%s\t%s\t%s\t%s\nCapEff:\t%s\nCapBnd:\t%s\n", uid, uid, uid, uid, caps, caps))
	n.write(filepath.Join(dir, "uid_map"), idMap+"\n")
	if err := os.MkdirAll(filepath.Join(dir, "ns"), 0o755); err != nil {
		n.t.Fatal(err)
	}
	if err := os.Symlink(pidNS, filepath.Join(dir, "ns", "pid")); err != nil {
		n.t.Fatal(err)
	}
	n.members[inode] = append(n.members[inode], p)
}

func (n *node) write(file, text string) {
	n.t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		n.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		n.t.Fatal(err)
	}
}

// pod is a container of a pod: its process has the number of its namespace.
type pod struct {
	inode      uint64
	uid, name  string
	mounts     []facts.Mount
	devices    []facts.Device
	privileged facts.Answer
	caps       string // "": a container's usual ones
	uids       string // "": 0
	user       uint64 // the user namespace; 0: the node's
	idMap      string
	pidNS      string
}

const (
	usualCaps = "00000000a80425fb" // CAP_DAC_OVERRIDE of those that matter
	allCaps   = "000001ffffffffff"
)

// add puts a container on the node.
func (n *node) add(p pod, table ...string) {
	n.t.Helper()
	or := func(s, other string) string {
		if s == "" {
			return other
		}
		return s
	}
	if p.privileged.Truth == facts.Unknown && p.privileged.Why == "" {
		p.privileged = facts.Is(false, "CAP_SYS_ADMIN is not in the bounding set")
	}
	if p.user == 0 {
		p.user = hostUserNS
	}
	spec := hostview.Spec{Mounts: p.mounts, Devices: p.devices, Privileged: p.privileged}
	task := namespaces.Task{
		Container: facts.Container{ID: "id-" + p.name, Name: p.name, Pod: facts.Pod{ID: "sandbox-" + p.name, Name: "pod-" + p.name, Namespace: "prod", UID: p.uid}, Mounts: p.mounts, Privileged: p.privileged},
		Spec:      spec, Bundle: hostview.Bundle{Dir: "/run/containerd/x/" + p.name}, PID: int(p.inode),
	}
	n.Tasks = append(n.Tasks, task)
	n.namespace(p.inode, p.user, table...)
	owner := namespaces.Owner{Task: &task, ContainerID: task.Container.ID, PodUID: p.uid, Cgroup: "/kubepods/" + p.name}
	n.process(p.inode, namespaces.Process{PID: int(p.inode), Comm: p.name, User: p.user, Owner: owner},
		or(p.uids, "0"), or(p.caps, usualCaps), or(p.idMap, "0 0 4294967295"), or(p.pidNS, fmt.Sprintf("pid:[%d]", p.inode)))
}

func bind(source, destination string, options ...string) facts.Mount {
	return facts.Mount{Source: source, Destination: destination, Type: "bind", Options: append([]string{"rbind"}, options...)}
}

// told is a report in short, but for the node itself: one line a path.
func told(r Report) []string {
	var all []string
	for _, v := range r.Viewers {
		if v.Kind == KindHost {
			continue
		}
		for _, p := range v.Paths {
			all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s%s %s %s %s %s%s", name(v.Who), p.Path, bracket(p.Part), p.Through.Kind, word(p.Through.Copy), mode(p.Writable), own(p.Own), also(p))))
		}
	}
	return all
}

func name(w Who) string {
	switch {
	case w.Container != "":
		return w.Container
	case w.ContainerID != "":
		return w.ContainerID
	case w.Unit != "":
		return w.Unit
	default:
		return w.Kind
	}
}

func bracket(part string) string {
	if part == "" {
		return ""
	}
	return "[" + part + "]"
}

func word(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func mode(a facts.Answer) string {
	return map[facts.Truth]string{facts.Yes: "rw", facts.No: "ro", facts.Unknown: "?"}[a.Truth]
}

func own(a facts.Answer) string {
	return map[facts.Truth]string{facts.Yes: "own", facts.No: "foreign", facts.Unknown: "own?"}[a.Truth]
}

func also(p Path) string {
	s := ""
	if p.Twin {
		s += " twin"
	}
	if p.Deleted {
		s += " deleted"
	}
	return s
}
