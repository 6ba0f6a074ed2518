package target

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/volumes"
)

// fixture is a node as text.
type fixture struct {
	sys, proc string
	loops     map[string]device.LoopStatus
	host      fakeHost
	survey    *volumes.Survey
}

// newFixture makes a node with a disk sda of one partition, the logical volumes
// vg0/a (253:1) and vg0/b (253:2) on it, a crypt device (253:5) over b, a loop
// device (7:0) over a file on that, and an empty loop device (7:1).
func newFixture(t testing.TB, table string) *fixture {
	t.Helper()
	f := &fixture{sys: t.TempDir(), proc: t.TempDir(), loops: map[string]device.LoopStatus{}}
	f.host = fakeHost{at: map[string]facts.HostMount{}, blocks: map[string]facts.DeviceNumber{}, pools: map[string]string{}}
	var err error
	if f.host.table, err = hostview.ReadTable(strings.NewReader(table)); err != nil {
		t.Fatal(err)
	}
	id := func(lv string) string { return "LVM-" + strings.Repeat("v", 32) + strings.Repeat(lv, 32) }
	f.block(t, "8:0", "sda", nil)
	f.block(t, "8:1", "sda/sda1", map[string]string{"partition": "1"})
	f.block(t, "253:1", "dm-1", map[string]string{"dm/name": "vg0-a", "dm/uuid": id("a")}, "sda1")
	f.block(t, "253:2", "dm-2", map[string]string{"dm/name": "vg0-b", "dm/uuid": id("b")}, "sda1")
	f.block(t, "253:5", "dm-5", map[string]string{"dm/name": "secret", "dm/uuid": "CRYPT-LUKS2-1-secret"}, "dm-2")
	f.block(t, "7:0", "loop0", map[string]string{"loop/backing_file": "/x/image"})
	f.block(t, "7:1", "loop1", nil)
	f.loops["loop0"] = device.LoopStatus{File: number(253, 5)}
	return f
}

func number(major, minor uint32) facts.DeviceNumber {
	return facts.DeviceNumber{Major: major, Minor: minor}
}

func (f *fixture) block(t testing.TB, number, name string, attributes map[string]string, slaves ...string) {
	t.Helper()
	dir := filepath.Join(f.sys, "devices", name)
	write(t, filepath.Join(dir, "dev"), number+"\n")
	for key, value := range attributes {
		write(t, filepath.Join(dir, key), value+"\n")
	}
	link(t, filepath.Join(f.sys, "dev/block", number), "../../devices/"+name)
	for _, s := range slaves {
		to := "../../" + s
		if s == "sda1" {
			to = "../../sda/sda1"
		}
		link(t, filepath.Join(dir, "slaves", s), to)
	}
}

func (f *fixture) node() Node {
	n := Node{
		Proc: f.proc, Sys: f.sys, KubeletRoot: "/var/lib/kubelet", Host: f.host,
		Devices: device.FS{Sys: f.sys, Loop: func(name string) (device.LoopStatus, error) {
			st, ok := f.loops[name]
			if !ok {
				return st, fmt.Errorf("ask %s: %w", name, fs.ErrNotExist)
			}
			return st, nil
		}},
	}
	if f.survey != nil {
		n.Survey = func(context.Context) volumes.Survey { return *f.survey }
	}
	return n
}

func write(t testing.TB, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func link(t testing.TB, file, to string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(to, file); err != nil {
		t.Fatal(err)
	}
}

// fakeHost is the host's paths.
type fakeHost struct {
	at     map[string]facts.HostMount
	blocks map[string]facts.DeviceNumber
	pools  map[string]string // btrfs by a mount point
	table  *hostview.Table
	hung   string // a path that does not answer
}

func (h fakeHost) Lookup(_ context.Context, path string) (facts.HostMount, error) {
	if path == h.hung {
		return facts.HostMount{}, &hostview.CannotTell{Path: path, Why: "no answer in 50ms"}
	}
	m, ok := h.at[path]
	if !ok {
		return m, &hostview.CannotTell{Path: path, Why: "no such file or directory", Err: fs.ErrNotExist}
	}
	return m, nil
}

func (h fakeHost) BlockNumber(_ context.Context, path string) (facts.DeviceNumber, error) {
	n, ok := h.blocks[path]
	if !ok {
		return n, &hostview.CannotTell{Path: path, Why: "not a block device"}
	}
	return n, nil
}

func (h fakeHost) Btrfs(_ context.Context, path string) (hostview.Btrfs, error) {
	id, ok := h.pools[path]
	if !ok {
		return hostview.Btrfs{}, &hostview.CannotTell{Path: path, Why: "no answer in 50ms"}
	}
	return hostview.Btrfs{FSID: id, Devices: 1}, nil
}

func (h fakeHost) Table(context.Context) (*hostview.Table, error) { return h.table, nil }
