package volumes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/verify"
)

// errHung is the error of the host view about a file system that hangs.
func errHung(path string) error {
	return &hostview.CannotTell{Path: path, Why: "its file system did not answer in 50ms"}
}

func errGone(path string) error {
	return &hostview.CannotTell{Path: path, Why: fs.ErrNotExist.Error(), Err: fs.ErrNotExist}
}

// fakeHost is a host with a few mounts, files, directories and devices.
type fakeHost struct {
	mounts map[string]facts.HostMount // by mount point
	links  map[string]string
	gone   map[string]bool // paths that are not there
	files  map[string]string
	dirs   map[string][]string
	blocks map[string]facts.DeviceNumber
	stats  map[string][]hostview.Statfs // one an asking; the last for good
	btrfs  map[string]hostview.Btrfs
	handle map[string]hostview.Handle
	slow   string           // has no handle in time
	errs   map[string]error // of everything about a path

	mu    sync.Mutex
	asked []string
}

func (h *fakeHost) ask(question, path string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = append(h.asked, question+" "+path)
	for at, err := range h.errs {
		if facts.Within(path, at) {
			return err
		}
	}
	return nil
}

func (h *fakeHost) count(question string) int {
	n := 0
	for _, a := range h.asked {
		if strings.HasPrefix(a, question) {
			n++
		}
	}
	return n
}

func (h *fakeHost) Lookup(ctx context.Context, p string) (facts.HostMount, error) {
	if err := ctx.Err(); err != nil {
		return facts.HostMount{}, err
	}
	if err := h.ask("lookup", p); err != nil {
		return facts.HostMount{}, err
	}
	if to, ok := h.links[p]; ok {
		p = to
	}
	best := ""
	for point := range h.mounts {
		if facts.Within(p, point) && len(point) > len(best) {
			best = point
		}
	}
	m, ok := h.mounts[best]
	if !ok || h.gone[p] {
		return facts.HostMount{}, errGone(p)
	}
	m.Canonical, m.MountPoint = path.Clean(p), best
	_, m.File = h.files[p]
	return m, nil
}

func (h *fakeHost) ReadFile(_ context.Context, p string, most int) ([]byte, error) {
	if err := h.ask("file", p); err != nil {
		return nil, err
	}
	text, ok := h.files[p]
	switch {
	case !ok:
		return nil, errGone(p)
	case len(text) > most:
		return nil, &hostview.CannotTell{Path: p, Why: fmt.Sprintf("larger than %d bytes", most)}
	}
	return []byte(text), nil
}

func (h *fakeHost) ReadDir(_ context.Context, p string, most int) ([]string, error) {
	if err := h.ask("dir", p); err != nil {
		return nil, err
	}
	if _, ok := h.files[p]; ok {
		return nil, &hostview.CannotTell{Path: p, Why: "not a directory", Err: syscall.ENOTDIR}
	}
	names, ok := h.dirs[p]
	switch {
	case !ok:
		return nil, errGone(p)
	case len(names) > most:
		return nil, &hostview.CannotTell{Path: p, Why: fmt.Sprintf("more than %d entries", most)}
	}
	return names, nil
}

func (h *fakeHost) BlockNumber(_ context.Context, p string) (facts.DeviceNumber, error) {
	if err := h.ask("block", p); err != nil {
		return facts.DeviceNumber{}, err
	}
	n, ok := h.blocks[p]
	if !ok {
		return facts.DeviceNumber{}, &hostview.CannotTell{Path: p, Why: "not a block device"}
	}
	return n, nil
}

func (h *fakeHost) Statfs(_ context.Context, p string) (hostview.Statfs, error) {
	if err := h.ask("statfs", p); err != nil {
		return hostview.Statfs{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	all := h.stats[p]
	if len(all) == 0 {
		return hostview.Statfs{}, errHung(p)
	}
	if len(all) > 1 {
		h.stats[p] = all[1:]
	}
	return all[0], nil
}

func (h *fakeHost) Btrfs(_ context.Context, p string) (hostview.Btrfs, error) {
	if err := h.ask("btrfs", p); err != nil {
		return hostview.Btrfs{}, err
	}
	b, ok := h.btrfs[p]
	if !ok {
		return hostview.Btrfs{}, &hostview.CannotTell{Path: p, Why: "permission denied", Err: fs.ErrPermission}
	}
	return b, nil
}

// Handle is one of a kernel that has none, but for those that are given.
func (h *fakeHost) Handle(_ context.Context, p string) (hostview.Handle, error) {
	if err := h.ask("handle", p); err != nil {
		return hostview.Handle{}, err
	}
	if p == h.slow {
		return hostview.Handle{}, errHung(p)
	}
	n, ok := h.handle[p]
	if !ok {
		return hostview.Handle{}, &hostview.CannotTell{Path: p, Why: "operation not supported", Err: hostview.ErrNoHandle}
	}
	return n, nil
}

// fakeDevices are the block devices of a node.
type fakeDevices struct {
	chains map[facts.DeviceNumber]device.Chain
	btrfs  map[string]device.Chain
	folded map[string]device.Chain // by f_fsid and subvolume

	mu    sync.Mutex
	asked []facts.DeviceNumber
}

func (d *fakeDevices) Chain(n facts.DeviceNumber) (device.Chain, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, n)
	c, ok := d.chains[n]
	if !ok {
		return device.Chain{}, fmt.Errorf("resolve device %s: %w", n, fs.ErrNotExist)
	}
	return c, nil
}

func (d *fakeDevices) Btrfs(fsid string, _ int) (device.Chain, error) {
	c, ok := d.btrfs[fsid]
	if !ok {
		return device.Chain{}, errors.New("resolve btrfs: no such file system")
	}
	return c, nil
}

func (d *fakeDevices) BtrfsByStatfs(folded [2]uint32, subvolume uint64) (device.Chain, error) {
	c, ok := d.folded[fmt.Sprint(folded, subvolume)]
	if !ok {
		return device.Chain{}, errors.New("find btrfs: none that is mounted has it")
	}
	return c, nil
}

func number(major, minor uint32) facts.DeviceNumber {
	return facts.DeviceNumber{Major: major, Minor: minor}
}

// chainOf makes a chain, one device below the other.
func chainOf(layers ...device.Layer) device.Chain {
	for i := range layers[:len(layers)-1] {
		layers[i].Lower = []facts.DeviceNumber{layers[i+1].Number}
	}
	return device.Chain{Layers: layers, Tops: 1}
}

func lvLayer(n facts.DeviceNumber, vg, lv string) device.Layer {
	return device.Layer{
		Number: n, Name: fmt.Sprint("dm-", n.Minor), Kind: device.LV, DMName: vg + "-" + strings.ReplaceAll(lv, "-", "--"),
		LV: &device.LogicalVolume{VG: vg, LV: lv, UUID: "uuid-" + lv},
	}
}

func diskLayer(n facts.DeviceNumber, name string) device.Layer {
	return device.Layer{Number: n, Name: name, Kind: device.Disk}
}

// node is the node of most tests: vg0/pvc-1 on 253:2, a crypt device on 253:3, a
// partition on 8:1 and a disk of its own on 8:16.
func node() *fakeDevices {
	disk := diskLayer(number(8, 0), "sda")
	return &fakeDevices{chains: map[facts.DeviceNumber]device.Chain{
		number(253, 2): chainOf(lvLayer(number(253, 2), "vg0", "pvc-1"), disk),
		number(253, 4): chainOf(lvLayer(number(253, 4), "vg0", "pvc-2"), disk),
		number(253, 5): chainOf(lvLayer(number(253, 5), "vg1", "over"), lvLayer(number(253, 6), "vg0", "under"), disk),
		number(253, 3): chainOf(device.Layer{Number: number(253, 3), Name: "dm-3", DMName: "luks-home", Kind: device.Crypt, Note: "luks2"}, disk),
		number(253, 9): chainOf(device.Layer{Number: number(253, 9), Name: "dm-9", DMName: "odd", Kind: device.DM, Unknown: "its slaves could not be read"}),
		number(8, 1):   chainOf(device.Layer{Number: number(8, 1), Name: "sda1", Kind: device.Partition}, disk),
		number(8, 16):  chainOf(diskLayer(number(8, 16), "sdb")),
	}}
}

const (
	noLVDisk      = "no logical volume: partition sda1, sda"
	kubelet       = "/var/lib/kubelet"
	podUID        = "11111111-2222-3333-4444-555555555555"
	pod           = kubelet + "/pods/" + podUID
	otherUID      = "22222222-2222-3333-4444-555555555555"
	volumesOfPod  = pod + "/volumes"
	csiVolume     = volumesOfPod + "/kubernetes.io~csi/pvc-1"
	csiTarget     = csiVolume + "/mount"
	volumeDataOf1 = `{"specVolID":"pvc-1","volumeHandle":"handle-1","driverName":"lvm.example.com","nodeName":"n","volumeLifecycleMode":"Persistent"}`
)

func backing1() Backing {
	return Backing{Device: number(253, 2), Name: "dm-2", DMName: "vg0-pvc--1", LV: "vg0/pvc-1", LVUUID: "uuid-pvc-1"}
}

func backingOfRoot() Backing {
	return Backing{Device: number(8, 1), Name: "sda1", NoLV: noLVDisk}
}

// onHost is a host with / on sda1 and what is given.
func onHost(mounts map[string]facts.HostMount) *fakeHost {
	h := &fakeHost{mounts: map[string]facts.HostMount{
		"/": {Device: number(8, 1), Root: "/", FSType: "ext4", State: facts.MountState{Peer: 1}},
	}}
	for at, m := range mounts {
		h.mounts[at] = m
	}
	return h
}

func tableOf(t testing.TB, lines ...string) *hostview.Table {
	t.Helper()
	table, err := hostview.ReadTable(strings.NewReader(strings.Join(lines, "\n") + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// asked is a mount that was left as asked.
func asked(destination, source string, p facts.Propagation) facts.Outcome {
	return facts.Outcome{
		Mount: facts.Mount{Destination: destination, Source: source, Type: "bind", Options: []string{"rbind", p.Option()}},
		Asked: p, Decided: p, Result: facts.Unchanged,
	}
}

// located gives the outcomes what their sources led to at creation, and finds
// them in the container.
func located(s Sources) Sources {
	for i := range s.Outcomes {
		if m, err := s.Host.Lookup(context.Background(), s.Outcomes[i].Mount.Source); err == nil && s.Outcomes[i].Mount.Host == nil {
			s.Outcomes[i].Mount.Host = &m
		}
	}
	s.Located = verify.Locate(s.Outcomes, s.Container)
	return s
}

// one maps a task with one mount and returns that.
func one(t *testing.T, h *fakeHost, d *fakeDevices, source string, lines ...string) (Mount, Task) {
	t.Helper()
	s := located(Sources{
		Outcomes:  []facts.Outcome{asked("/data", source, facts.Private)},
		Container: tableOf(t, slices.Concat([]string{"100 1 8:1 /snap / rw - ext4 /dev/sda1 rw"}, lines)...),
		Host:      h, Devices: d, KubeletRoot: kubelet, RuntimeDirs: []string{"/run/containerd", "/var/lib/containerd", ""},
	})
	task := Map(context.Background(), s, 1, "/b/rootfs")
	if len(task.Mounts) != 1 {
		t.Fatalf("%d mounts, want 1", len(task.Mounts))
	}
	return task.Mounts[0], task
}
