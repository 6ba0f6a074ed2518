package pins

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/namespaces"
	"github.com/mountward/mountward/pkg/target"
)

// home is the inode of the host's mount namespace in the fixtures.
const home = 4026531841

// fixture is a node as text.
type fixture struct {
	t          testing.TB
	dir        string
	tables     map[uint64][]string // each reading; the last one stays
	census     namespaces.Census
	tasks      []namespaces.Task
	host       fakeHost
	stats      map[string]Stat // of links, by PID/LINK
	opens      int             // -1: not known
	mu         sync.Mutex      // tables are read in parallel
	readings   map[uint64]int
	loops      map[string]device.LoopStatus
	unreadable map[uint64]error
	tasksWhy   string
	fsType     func(string) (string, error)
}

func newFixture(t testing.TB) *fixture {
	f := &fixture{
		t: t, dir: t.TempDir(), tables: map[uint64][]string{}, stats: map[string]Stat{}, opens: -1,
		readings: map[uint64]int{}, unreadable: map[uint64]error{}, loops: map[string]device.LoopStatus{},
		host: fakeHost{
			at: map[string]facts.HostMount{}, blocks: map[string]facts.DeviceNumber{}, files: map[string]string{},
			numbers: map[string]facts.DeviceNumber{},
		},
	}
	f.census.Rung = namespaces.RungKernel
	f.file("sys/dev/block/.keep", "")
	f.file("proc/filesystems", "nodev\ttmpfs\n\text4\n\txfs\n")
	f.namespace(home, namespaces.Process{PID: 1, Comm: "systemd"}, "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw")
	return f
}

// file writes a file below the fixture.
func (f *fixture) file(name, text string) { write(f.t, filepath.Join(f.dir, name), text) }

// namespace adds a mount namespace with one process in it and its table.
func (f *fixture) namespace(inode uint64, p namespaces.Process, table string) {
	f.census.Namespaces = append(f.census.Namespaces, &namespaces.Namespace{Inode: inode, PIDs: []int{p.PID}})
	f.census.Processes = append(f.census.Processes, p)
	f.tables[inode] = []string{table}
}

// link makes a link of a process and says what it leads to.
func (f *fixture) link(pid int, name, text string, st Stat) {
	path := filepath.Join(f.dir, "proc", fmt.Sprint(pid), name)
	mkdir(f.t, filepath.Dir(path))
	if err := os.Symlink(text, path); err != nil {
		f.t.Fatal(err)
	}
	f.stats[path] = st
}

// block makes a block device of sysfs; slaves are the kernel's names of those
// below it.
func (f *fixture) block(number, name string, attributes map[string]string, slaves ...string) {
	at := "sys/devices/virtual/block/" + name
	f.file(at+"/dev", number+"\n")
	for key, value := range attributes {
		f.file(at+"/"+key, value+"\n")
	}
	mkdir(f.t, filepath.Join(f.dir, at, "slaves"))
	for _, s := range slaves {
		if err := os.Symlink("../../"+s, filepath.Join(f.dir, at, "slaves", s)); err != nil {
			f.t.Fatal(err)
		}
	}
	for link, up := range map[string]string{"sys/dev/block/" + number: "../../", "sys/block/" + name: "../"} {
		mkdir(f.t, filepath.Dir(filepath.Join(f.dir, link)))
		if err := os.Symlink(up+"devices/virtual/block/"+name, filepath.Join(f.dir, link)); err != nil {
			f.t.Fatal(err)
		}
	}
}

// lv makes the logical volume vg0/pvc-1 as 253:7.
func (f *fixture) lv() {
	f.block("253:7", "dm-7", map[string]string{
		"dm/name": "vg0-pvc--1", "dm/uuid": "LVM-" + strings.Repeat("v", 32) + strings.Repeat("l", 32),
	})
}

// Table makes the fixture's tables Tables.
func (f *fixture) Table(_ context.Context, n *namespaces.Namespace) (*hostview.Table, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.unreadable[n.Inode]; err != nil {
		return nil, err
	}
	texts := f.tables[n.Inode]
	i := min(f.readings[n.Inode], len(texts)-1)
	f.readings[n.Inode]++
	var lines []string
	for line := range strings.Lines(texts[i]) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return hostview.ReadTable(strings.NewReader(strings.Join(lines, "\n") + "\n"))
}

func (f *fixture) loop(name string) (device.LoopStatus, error) {
	st, ok := f.loops[name]
	if !ok {
		return st, errors.New("nobody to ask")
	}
	return st, nil
}

func (f *fixture) node() Node {
	sys := filepath.Join(f.dir, "sys")
	n := Node{
		Proc: filepath.Join(f.dir, "proc"), Sys: sys, KubeletRoot: "/var/lib/kubelet", Home: home,
		Census: &f.census, Tables: f, Tasks: f.tasks, TasksWhy: f.tasksWhy, FSType: f.fsType, Devices: device.FS{Sys: sys, Loop: f.loop}, Host: f.host, Again: time.Nanosecond,
		Inside: func(_ string, pid int) (Inside, error) { return nil, fmt.Errorf("process %d: %w", pid, fs.ErrNotExist) },
		Stat: func(path string) (Stat, error) {
			st, ok := f.stats[path]
			if !ok {
				return Stat{}, &os.PathError{Op: "statx", Path: path, Err: fs.ErrNotExist}
			}
			return st, nil
		},
	}
	if f.opens >= 0 {
		n.Opens = func(facts.DeviceNumber) (int, error) { return f.opens, nil }
	}
	return n
}

func (f *fixture) find(name string) Report {
	f.t.Helper()
	n := f.node()
	table, err := hostview.ReadTable(strings.NewReader(f.tables[home][0] + "\n"))
	if err != nil {
		f.t.Fatal(err)
	}
	targets, err := target.Resolve(f.t.Context(), target.Node{
		Proc: n.Proc, Sys: n.Sys, KubeletRoot: n.KubeletRoot, Devices: n.Devices, Host: resolveHost{f.host, table},
	}, name)
	if err != nil {
		f.t.Fatal(err)
	}
	return Find(f.t.Context(), n, targets[0])
}

// fakeHost is the host's paths.
type fakeHost struct {
	at      map[string]facts.HostMount
	blocks  map[string]facts.DeviceNumber
	files   map[string]string
	numbers map[string]facts.DeviceNumber // st_dev
}

func (h fakeHost) Lookup(_ context.Context, path string) (facts.HostMount, error) {
	m, ok := h.at[path]
	if !ok {
		return m, &hostview.CannotTell{Path: path, Why: "no such file or directory", Err: fs.ErrNotExist}
	}
	m.Canonical = path
	return m, nil
}

func (h fakeHost) BlockNumber(_ context.Context, path string) (facts.DeviceNumber, error) {
	n, ok := h.blocks[path]
	if !ok {
		return n, &hostview.CannotTell{Path: path, Why: "not a block device"}
	}
	return n, nil
}

func (h fakeHost) ReadFile(_ context.Context, path string, _ int) ([]byte, error) {
	text, ok := h.files[path]
	if !ok {
		return nil, &hostview.CannotTell{Path: path, Why: "no such file or directory", Err: fs.ErrNotExist}
	}
	return []byte(text), nil
}

func (h fakeHost) Stat(_ context.Context, path string) (fs.FileInfo, error) {
	n, ok := h.numbers[path]
	if !ok {
		return nil, &hostview.CannotTell{Path: path, Why: "no such file or directory", Err: fs.ErrNotExist}
	}
	return fileInfo{number: n}, nil
}

// fileInfo is the answer of Stat.
type fileInfo struct {
	fs.FileInfo
	number facts.DeviceNumber
}

func (i fileInfo) Sys() any {
	return &syscall.Stat_t{Dev: uint64(i.number.Major<<8 | i.number.Minor)}
}

func (h fakeHost) Statfs(_ context.Context, path string) (hostview.Statfs, error) {
	return hostview.Statfs{}, &hostview.CannotTell{Path: path, Why: "not asked"}
}

func (h fakeHost) Btrfs(_ context.Context, path string) (hostview.Btrfs, error) {
	return hostview.Btrfs{}, &hostview.CannotTell{Path: path, Why: "not asked"}
}

func (h fakeHost) Handle(_ context.Context, path string) (hostview.Handle, error) {
	return hostview.Handle{}, &hostview.CannotTell{Path: path, Why: "no handles", Err: hostview.ErrNoHandle}
}

// resolveHost is what finding the target needs as well.
type resolveHost struct {
	fakeHost
	table *hostview.Table
}

func (h resolveHost) Table(context.Context) (*hostview.Table, error) { return h.table, nil }

func container(id, name, namespace, pod, uid string) *namespaces.Task {
	return &namespaces.Task{
		Container: facts.Container{ID: id, Name: name, Pod: facts.Pod{Namespace: namespace, Name: pod, UID: uid}},
		Bundle:    hostview.Bundle{Dir: "/run/containerd/io.containerd.runtime.v2.task/k8s.io/" + id},
	}
}
