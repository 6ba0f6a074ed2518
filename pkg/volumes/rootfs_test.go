package volumes

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

func sizes(blocks ...uint64) []hostview.Statfs {
	var all []hostview.Statfs
	for _, b := range blocks {
		all = append(all, hostview.Statfs{BlockSize: 4096, Blocks: b, Files: 7})
	}
	return all
}

func mapRootfs(t *testing.T, h *fakeHost, root, path string) (Rootfs, Task) {
	t.Helper()
	s := Sources{Container: tableOf(t, "100 1 "+root), Host: h, Devices: node()}
	task := Map(context.Background(), s, 1, path)
	return task.Rootfs, task
}

// TestRootfs is where a task writes, for the shapes that a root has.
func TestRootfs(t *testing.T) {
	const overlay = "0:50 / / rw - overlay overlay rw,upperdir=/ctr/1/fs,workdir=/ctr/1/work"
	pvc := facts.HostMount{Device: number(253, 2), Root: "/", FSType: "xfs", MountID: 20, Rung: hostview.RungStatmount}
	rootfs := facts.HostMount{Device: number(0, 50), Root: "/", FSType: "overlay", MountID: 30, Rung: hostview.RungStatmount}
	later := func(m facts.HostMount) facts.HostMount { m.MountID = 40; return m }
	on := func(fsType string, n facts.DeviceNumber) facts.HostMount {
		return facts.HostMount{Device: n, Root: "/", FSType: fsType}
	}
	const gone = "cannot tell: /ctr/1/fs is not the overlay's upper directory any more (statfs tells 9 blocks of 4096 bytes and 7 files of it and 5 blocks of 4096 bytes and 7 files of the overlay)"
	tests := []struct {
		name     string
		root     string
		ctr      facts.HostMount // at /ctr; zero: not there
		rootfs   facts.HostMount // at /b/rootfs; zero: not there
		upper    []hostview.Statfs
		over     []hostview.Statfs
		lv, noLV string
		device   string
		verified facts.Truth
		why      string // in Verified
	}{
		{name: "overlay on a logical volume", root: overlay, ctr: pvc, rootfs: rootfs, upper: sizes(5), over: sizes(5), lv: "vg0/pvc-1", device: "253:2", verified: facts.Yes, why: "statfs tells 5 blocks"},
		{name: "overlay in memory", root: overlay, ctr: on("tmpfs", number(0, 33)), rootfs: rootfs, upper: sizes(5), over: sizes(5), noLV: "tmpfs: in memory", device: "0:33", verified: facts.Yes},
		{name: "another file system lies over the upper directory", root: overlay, ctr: pvc, rootfs: rootfs, upper: sizes(9), over: sizes(5), noLV: gone, device: "0:50", verified: facts.No, why: "9 blocks"},
		{name: "an equally large one does, and is younger", root: overlay, ctr: later(pvc), rootfs: rootfs, upper: sizes(5), over: sizes(5), noLV: "cannot tell: /ctr/1/fs was mounted over or mounted anew since the overlay was mounted", device: "0:50", why: "mounted over"},
		{name: "ages are not known on the other rung", root: overlay, ctr: on("xfs", number(253, 2)), rootfs: rootfs, upper: sizes(5), over: sizes(5), lv: "vg0/pvc-1", device: "253:2", verified: facts.Yes},
		{name: "it was grown between two readings", root: overlay, ctr: pvc, rootfs: rootfs, upper: sizes(4, 5), over: sizes(5), lv: "vg0/pvc-1", device: "253:2", verified: facts.Yes},
		{name: "it was grown between all readings of the first time", root: overlay, ctr: pvc, rootfs: rootfs, upper: sizes(3, 6, 6), over: sizes(4, 6), lv: "vg0/pvc-1", device: "253:2", verified: facts.Yes},
		{name: "it changes all the time", root: overlay, ctr: pvc, rootfs: rootfs, upper: sizes(1, 3, 5, 7), over: sizes(2, 6), noLV: "cannot tell: statfs tells 7 blocks of 4096 bytes and 7 files of it and 6 blocks of 4096 bytes and 7 files of the overlay, and it changes meanwhile", device: "0:50", why: "changes meanwhile"},
		{name: "no sizes are told", root: overlay, ctr: pvc, rootfs: rootfs, upper: sizes(0), over: sizes(0), noLV: "cannot tell: statfs tells no size of the overlay", device: "0:50", why: "no size"},
		{name: "statfs does not answer", root: overlay, ctr: pvc, rootfs: rootfs, upper: sizes(5), noLV: "cannot tell: statfs: /b/rootfs: its file system did not answer in 50ms", device: "0:50", why: "did not answer"},
		{name: "the upper directory leads to a server now", root: overlay, ctr: on("nfs4", number(0, 61)), rootfs: rootfs, upper: sizes(5), over: sizes(5), noLV: "cannot tell: /ctr/1/fs leads to nfs4 on 0:61 now, which is not asked: it may not answer", device: "0:50", why: "may not answer"},
		{name: "the upper directory leads to an overlay now", root: overlay, ctr: on("overlay", number(0, 51)), rootfs: rootfs, upper: sizes(5), over: sizes(5), noLV: "cannot tell: /ctr/1/fs leads to overlay on 0:51 now, which is not asked: it may not answer", device: "0:50", why: "overlay"},
		{name: "the rootfs is not mounted on the host any more", root: overlay, ctr: pvc, rootfs: on("ext4", number(8, 1)), upper: sizes(5), over: sizes(5), noLV: "cannot tell: /b/rootfs leads to ext4 on 8:1 now, the overlay is 0:50", device: "0:50", why: "the overlay is 0:50"},
		{name: "the rootfs is not there", root: overlay, ctr: pvc, upper: sizes(5), over: sizes(5), noLV: "cannot tell: /b/rootfs: file does not exist", device: "0:50", why: "does not exist"},
		{name: "the upper directory is not there", root: overlay, rootfs: rootfs, noLV: "cannot tell: /ctr/1/fs: file does not exist", device: "0:50", why: "does not exist"},
		{name: "overlay without an upper", root: "0:50 / / ro - overlay overlay ro,lowerdir=/ctr/a:/ctr/b", ctr: pvc, rootfs: rootfs, noLV: "an overlay without an upper directory: nothing is written", device: "0:50"},
		{name: "options that were too long", root: overlay + ",lowerdir=" + strings.Repeat("/l:", 30_000), ctr: pvc, rootfs: rootfs, noLV: "cannot tell: the overlay's options are not known: its line in the mount table is too long", device: "0:50"},
		{name: "a thin snapshot", root: "253:3 / / rw - ext4 /dev/mapper/x rw", noLV: "no logical volume: crypt luks-home (luks2), sda", device: "253:3"},
		{name: "a disk", root: "8:16 / / rw - ext4 /dev/sda1 rw", noLV: "no logical volume: sdb", device: "8:16"},
		{name: "a device that sysfs does not have", root: "8:99 / / rw - ext4 /dev/sdz rw", noLV: "cannot tell: resolve device 8:99: file does not exist", device: "8:99"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := &fakeHost{mounts: map[string]facts.HostMount{}, stats: map[string][]hostview.Statfs{"/ctr/1/fs": test.upper, "/b/rootfs": test.over}}
			for at, m := range map[string]facts.HostMount{"/ctr": test.ctr, "/b/rootfs": test.rootfs} {
				if m.Root != "" {
					h.mounts[at] = m
				}
			}
			r, task := mapRootfs(t, h, test.root, "/b/rootfs")
			if r.LV != test.lv || r.NoLV != test.noLV || r.Device.String() != test.device {
				t.Errorf("LV %q, no LV %q, device %s\nwant %q, %q, %s", r.LV, r.NoLV, r.Device, test.lv, test.noLV, test.device)
			}
			if r.Verified.Truth != test.verified || !strings.Contains(r.Verified.Why, test.why) {
				t.Errorf("verified %s (%s), want %s (... %s ...)", r.Verified.Truth, r.Verified.Why, test.verified, test.why)
			}
			if r.LV != "" && r.Upper != "" && r.Verified.Truth != facts.Yes {
				t.Error("a name that was not verified")
			}
			if len(task.Storage) == 0 || task.Storage[0].Device != r.Device || task.Storage[0].NoLV != r.NoLV {
				t.Errorf("storage %+v", task.Storage)
			}
			wantRoot := ""
			if r.Device != r.Superblock {
				wantRoot = "/"
				if r.Upper != "" {
					wantRoot = "/1/fs"
				}
			}
			if r.Root != wantRoot {
				t.Errorf("root %q, want %q", r.Root, wantRoot)
			}
		})
	}
}

// TestUpperOnVolume is the founding case: a task that writes to a volume
// through an overlay that another one made there.
func TestUpperOnVolume(t *testing.T) {
	h := onHost(map[string]facts.HostMount{
		csiTarget:  {Device: number(253, 2), Root: "/", FSType: "xfs"},
		"/b":       {Device: number(0, 50), Root: "/", FSType: "overlay"},
		"/var/lib": {Device: number(8, 16), Root: "/", FSType: "ext4"},
	})
	h.stats = map[string][]hostview.Statfs{csiTarget + "/rootfs/fs": sizes(5), "/b": sizes(5)}
	r, task := mapRootfs(t, h, "0:50 / / rw - overlay o rw,lowerdir=/var/lib/s/12/fs:/var/lib/s/9/fs,upperdir="+csiTarget+"/rootfs/fs,workdir="+csiTarget+"/rootfs/work", "/b")
	if r.LV != "vg0/pvc-1" || r.Root != "/rootfs/fs" || r.Work != csiTarget+"/rootfs/work" {
		t.Errorf("LV %q, root %q, work %q", r.LV, r.Root, r.Work)
	}
	want := []Lower{{Path: "/var/lib/s/12/fs", Device: number(8, 16)}, {Path: "/var/lib/s/9/fs", Device: number(8, 16)}}
	if diff := cmp.Diff(want, r.Lower); diff != "" {
		t.Errorf("lower (-want +got):\n%s", diff)
	}
	if len(task.Storage) != 2 || task.Storage[1].Device != number(8, 16) {
		t.Errorf("storage %+v", task.Storage)
	}
}

func TestLower(t *testing.T) {
	const snapshots = "/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs/snapshots"
	many := strings.Repeat("/l:", maxLower+9)
	tests := []struct {
		name, options string
		want          []Lower
	}{
		{"relative to containerd's snapshots", "lowerdir=12/fs:3/fs,upperdir=" + snapshots + "/15/fs", []Lower{
			{Path: snapshots + "/12/fs", Device: number(8, 1)}, {Path: snapshots + "/3/fs", Device: number(8, 1)},
		}},
		{"relative, with an upper directory elsewhere", "lowerdir=12/fs,upperdir=/pvc/rootfs/fs", []Lower{{Path: "12/fs", Why: "a path relative to a directory that is not known"}}},
		{"relative, without an upper directory", "lowerdir=12/fs", []Lower{{Path: "12/fs", Why: "a path relative to a directory that is not known"}}},
		{"relative and not containerd's", "lowerdir+=../../12/fs,lowerdir+=12/x,upperdir=" + snapshots + "/15/fs", []Lower{
			{Path: "../../12/fs", Why: "a path relative to a directory that is not known"}, {Path: "12/x", Why: "a path relative to a directory that is not known"},
		}},
		{"one is gone", "lowerdir=/gone:/l", []Lower{{Path: "/gone", Why: "/gone: file does not exist"}, {Path: "/l", Device: number(8, 1)}}},
		{"one does not answer", "lowerdir=/hung/a", []Lower{{Path: "/hung/a", Why: "/hung: its file system did not answer in 50ms"}}},
		{"an erofs image on a logical volume", "lowerdir=/image", []Lower{{Path: "/image", Device: number(0, 70)}}},
		{"none", "upperdir=/u", nil},
	}
	for _, test := range tests {
		h := onHost(map[string]facts.HostMount{
			"/image": {Device: number(0, 70), Root: "/", FSType: "erofs", Source: "/pvc/blob"},
			"/pvc":   {Device: number(253, 2), Root: "/", FSType: "xfs"},
		})
		h.gone, h.errs = map[string]bool{"/gone": true}, map[string]error{"/hung": errHung("/hung")}
		r, task := mapRootfs(t, h, "0:50 / / ro - overlay o ro,"+test.options, "")
		if diff := cmp.Diff(test.want, r.Lower); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		for _, l := range r.Lower {
			if !l.Device.IsZero() && !hasStorage(task, l.Device) {
				t.Errorf("%s: no storage of %s", test.name, l.Device)
			}
		}
	}
	r, _ := mapRootfs(t, onHost(nil), "0:50 / / ro - overlay o ro,lowerdir="+many, "")
	if len(r.Lower) != maxLower {
		t.Errorf("%d layers are told, want %d", len(r.Lower), maxLower)
	}
}

func hasStorage(t Task, n facts.DeviceNumber) bool {
	for _, s := range t.Storage {
		if s.Device == n {
			return true
		}
	}
	return false
}

// TestOverlayVolume: what is written to a volume that is an overlay goes to its
// upper directory as well.
func TestOverlayVolume(t *testing.T) {
	const line = `101 100 0:51 /sub /data rw - overlay o rw,lowerdir=/l,upperdir=/pvc/fs,workdir=/pvc/w`
	host := func() *fakeHost {
		h := onHost(map[string]facts.HostMount{
			"/merged": {Device: number(0, 51), Root: "/", FSType: "overlay"},
			"/pvc":    {Device: number(253, 2), Root: "/", FSType: "xfs"},
		})
		h.stats = map[string][]hostview.Statfs{"/merged/sub": sizes(5), "/pvc/fs": sizes(5)}
		return h
	}
	m, _ := one(t, host(), node(), "/merged/sub", line)
	if m.LV != "vg0/pvc-1" || m.Superblock != number(0, 51) || m.Device != number(253, 2) || m.Upper != "/pvc/fs" || m.FSType != "overlay" || m.Root != "/sub" {
		t.Errorf("mount %+v", m)
	}
	h := host()
	h.stats["/pvc/fs"] = sizes(6)
	if m, _ := one(t, h, node(), "/merged/sub", line); m.LV != "" || !strings.HasPrefix(m.NoLV, "cannot tell: /pvc/fs is not") || m.Device != number(0, 51) {
		t.Errorf("another upper directory: %+v", m.Backing)
	}
	h = host()
	delete(h.mounts, "/merged")
	if m, _ := one(t, h, node(), "/merged/sub", line); m.LV != "" || m.NoLV != "cannot tell: where the overlay is on the host is not known" {
		t.Errorf("the source leads elsewhere: %+v", m.Backing)
	}
}

// TestOverlayIsAskedOnce: many mounts of one overlay.
func TestOverlayIsAskedOnce(t *testing.T) {
	h := onHost(map[string]facts.HostMount{"/m": {Device: number(0, 51), Root: "/", FSType: "overlay"}})
	h.stats = map[string][]hostview.Statfs{"/m/0": sizes(5), "/u": sizes(5)}
	var outcomes []facts.Outcome
	lines := []string{"100 1 8:1 / / rw - ext4 x rw"}
	for i := range 3 {
		outcomes = append(outcomes, asked(fmt.Sprint("/d", i), fmt.Sprint("/m/", i), facts.Private))
		lines = append(lines, fmt.Sprintf("%d 100 0:51 /%d /d%d rw - overlay o rw,lowerdir=/l,upperdir=/u", 101+i, i, i))
	}
	s := located(Sources{Outcomes: outcomes, Container: tableOf(t, lines...), Host: h, Devices: node()})
	h.asked = nil
	task := Map(context.Background(), s, 1, "")
	if n := h.count("statfs"); n != 2 || task.Mounts[2].Device != number(8, 1) {
		t.Errorf("%d times statfs, want 2: %v; %+v", n, h.asked, task.Mounts[2].Backing)
	}
}
