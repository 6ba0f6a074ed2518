package volumes

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// TestBtrfs: its superblock has an anonymous number, and a path has to lead to
// it for it to be asked.
func TestBtrfs(t *testing.T) {
	two := device.Chain{Layers: []device.Layer{lvLayer(number(253, 2), "vg0", "pvc-1"), lvLayer(number(253, 4), "vg0", "pvc-2")}, Tops: 2}
	onTwo := Backing{Device: number(0, 40), LV: "vg0/pvc-1", LVUUID: "uuid-pvc-1", LVs: []string{"vg0/pvc-1", "vg0/pvc-2"}}
	const options = "rw,space_cache=v2,subvolid=256,subvol=/sv"
	fsid := hostview.Btrfs{FSID: "f1", Devices: 2}
	at := facts.HostMount{Device: number(0, 40), Root: "/sv", FSType: "btrfs", MountID: 9}
	folded := []hostview.Statfs{{FSID: [2]uint32{1, 2}}}
	tests := []struct {
		name    string
		mount   facts.HostMount // at /srv
		source  string          // "" is /srv
		btrfs   map[string]hostview.Btrfs
		stats   map[string][]hostview.Statfs
		options string
		root    string // "" is /sv
		want    Backing
		why     string // in NoLV
	}{
		{name: "asked at its source", mount: at, btrfs: map[string]hostview.Btrfs{"/srv": fsid}, options: options, want: onTwo},
		{name: "without the right to read it, by its folded id", mount: at, stats: map[string][]hostview.Statfs{"/srv": folded}, options: options, want: onTwo},
		{name: "the id of another subvolume does not unfold it", mount: at, stats: map[string][]hostview.Statfs{"/srv": folded}, options: "rw,subvolid=5,subvol=/", why: "none that is mounted has it"},
		{name: "the subvolume is not known", mount: at, stats: map[string][]hostview.Statfs{"/srv": folded}, options: "rw", why: "permission denied"},
		{name: "the source is another directory of it", mount: at, source: "/srv/deep", stats: map[string][]hostview.Statfs{"/srv/deep": folded}, options: options, why: "permission denied"},
		{name: "the source is another one now", mount: facts.HostMount{Device: number(0, 41), Root: "/sv", FSType: "btrfs"}, btrfs: map[string]hostview.Btrfs{"/srv": fsid}, options: options, why: "no path of the host is known"},
		{name: "the file system is not in sysfs", mount: at, btrfs: map[string]hostview.Btrfs{"/srv": {FSID: "f9"}}, options: options, why: "no such file system"},
		{name: "neither answers", mount: at, options: options, why: "did not answer in 50ms"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := onHost(map[string]facts.HostMount{"/srv": test.mount})
			h.btrfs, h.stats = test.btrfs, test.stats
			d := node()
			d.btrfs, d.folded = map[string]device.Chain{"f1": two}, map[string]device.Chain{"[1 2] 256": two}
			source := "/srv"
			if test.source != "" {
				source = test.source
			}
			m, _ := one(t, h, d, source, "101 100 0:40 /sv /data rw - btrfs /dev/mapper/lie "+test.options)
			if test.why != "" {
				if m.LV != "" || !strings.HasPrefix(m.NoLV, "cannot tell: btrfs: ") || !strings.Contains(m.NoLV, test.why) {
					t.Errorf("LV %q, no LV %q, want cannot tell ... %s ...", m.LV, m.NoLV, test.why)
				}
				return
			}
			if diff := cmp.Diff(test.want, m.Backing); diff != "" {
				t.Errorf("backing (-want +got):\n%s", diff)
			}
		})
	}
}

// TestBtrfsThatIsMountedOverMeanwhile: the answer could be another's.
func TestBtrfsThatIsMountedOverMeanwhile(t *testing.T) {
	h := onHost(map[string]facts.HostMount{"/srv": {Device: number(0, 40), Root: "/", FSType: "btrfs", MountID: 9}})
	h.btrfs = map[string]hostview.Btrfs{"/srv": {FSID: "f1"}}
	d := node()
	d.btrfs = map[string]device.Chain{"f1": chainOf(lvLayer(number(253, 2), "vg0", "pvc-1"))}
	m := newMapper(Sources{Host: h, Devices: d})
	sb := superblock{number: number(0, 40), fsType: "btrfs", root: "/", path: "/srv"}
	if _, err := m.look(t.Context(), "/srv"); err != nil {
		t.Fatal(err)
	}
	h.mounts["/srv"] = facts.HostMount{Device: number(0, 40), Root: "/", FSType: "btrfs", MountID: 10}
	if b := m.backing(t.Context(), sb); b.LV != "" || !strings.Contains(b.NoLV, "mounted over or unmounted while") {
		t.Errorf("backing %+v", b)
	}
}

// TestBtrfsOfAnotherMount: the source of one mount is the way to the superblock
// of another whose own source leads elsewhere.
func TestBtrfsOfAnotherMount(t *testing.T) {
	h := onHost(map[string]facts.HostMount{"/good": {Device: number(0, 40), Root: "/", FSType: "btrfs"}})
	h.btrfs = map[string]hostview.Btrfs{"/good": {FSID: "f1"}}
	d := node()
	d.btrfs = map[string]device.Chain{"f1": chainOf(lvLayer(number(253, 2), "vg0", "pvc-1"))}
	s := located(Sources{
		Outcomes: []facts.Outcome{asked("/a", "/elsewhere", facts.Private), asked("/b", "/good", facts.Private)}, Host: h, Devices: d,
		Container: tableOf(t, "100 1 8:1 / / rw - ext4 x rw", "101 100 0:40 /x /a rw - btrfs x rw,subvolid=5", "102 100 0:40 / /b rw - btrfs x rw,subvolid=5"),
	})
	for _, m := range Map(t.Context(), s, 1, "").Mounts {
		if m.LV != "vg0/pvc-1" {
			t.Errorf("%s: %+v", m.Destination, m.Backing)
		}
	}
}

// A loop device over a file in memory is on no device, where the path of the
// file leads to the file system that the kernel tells of it.
func TestALoopDeviceInMemory(t *testing.T) {
	for name, test := range map[string]struct {
		minor uint32 // of what the path leads to
		want  string
	}{
		"by its path":                 {79, "no logical volume: loop0 (/img on tmpfs: in memory)"},
		"the path is of another file": {80, cannotTell + "loop0: nobody knows"},
		"the path leads nowhere":      {0, cannotTell + "loop0: nobody knows"},
	} {
		h := onHost(map[string]facts.HostMount{})
		if test.minor != 0 {
			h.mounts["/img"] = facts.HostMount{Device: number(0, test.minor), Root: "/", FSType: "tmpfs"}
		}
		d := node()
		d.chains[number(7, 0)] = chainOf(device.Layer{
			Number: number(7, 0), Name: "loop0", Kind: device.Loop, Note: "/img", File: number(0, 79), Unknown: "nobody knows",
		})
		m := newMapper(Sources{Host: h, Devices: d})
		if b := m.backing(t.Context(), superblock{number: number(7, 0), fsType: "ext4", root: "/", path: "/x"}); b.NoLV != test.want {
			t.Errorf("%s: %+v, want %q", name, b, test.want)
		}
	}
}

// TestErofs: an image mounted from a file is on what the file is on.
func TestErofs(t *testing.T) {
	pvc := facts.HostMount{Device: number(253, 2), Root: "/", FSType: "xfs", MountID: 5, Rung: hostview.RungStatmount}
	image := facts.HostMount{Device: number(0, 70), Root: "/", FSType: "erofs", MountID: 8, Rung: hostview.RungStatmount}
	younger := pvc
	younger.MountID = 9
	tests := []struct {
		name, source, device string
		pvc                  facts.HostMount
		lv, noLV             string
	}{
		{"a file on a volume", "/pvc/blob", "0:70", pvc, "vg0/pvc-1", ""},
		{"a file on the root file system", "/blobs/1", "0:70", pvc, "", noLVDisk},
		{"a file on a volume mounted since", "/pvc/blob", "0:70", younger, "", "cannot tell: erofs: /pvc/blob was mounted over since the image in it was mounted"},
		{"a file whose file system hangs", "/hung/blob", "0:70", pvc, "", "cannot tell: /hung: its file system did not answer in 50ms"},
		{"a file on an overlay", "/over/blob", "0:70", pvc, "", "cannot tell: erofs: its file /over/blob leads to overlay on 0:51 now"},
		{"from a cache, by a name", "image-1", "0:70", pvc, "", "cannot tell: " + "erofs: on a file, which the source names (image-1)"},
		{"on a device", "/pvc/blob", "253:2", pvc, "vg0/pvc-1", ""},
	}
	for _, test := range tests {
		h := onHost(map[string]facts.HostMount{"/pvc": test.pvc, "/image": image, "/over": {Device: number(0, 51), Root: "/", FSType: "overlay"}})
		h.errs = map[string]error{"/hung": errHung("/hung")}
		m, _ := one(t, h, node(), "/image", "101 100 "+test.device+" / /data ro - erofs "+test.source+" ro")
		if m.LV != test.lv || m.NoLV != test.noLV {
			t.Errorf("%s: LV %q, no LV %q, want %q, %q", test.name, m.LV, m.NoLV, test.lv, test.noLV)
		}
	}
}

// TestNoDevice: a reason with the source where that says more, and no claim
// about pools and types that are not known.
func TestNoDevice(t *testing.T) {
	tests := []struct{ fsType, source, want string }{
		{"tmpfs", "tmpfs", "tmpfs: in memory"},
		{"tmpfs", "shm", "tmpfs: in memory"},
		{"nfs4", "server:/x", "nfs4: not on a device of this node (server:/x)"},
		{"nfs4", `server:/x\012y`, `nfs4: not on a device of this node ("server:/x\ny")`},
		{"proc", "proc", "proc: made by the kernel"},
		{"fuse.sshfs", "h:", "fuse.sshfs: served by a process (h:)"},
		{"zfs", "tank/x", "cannot tell: zfs: on the devices of a pool, which the source names (tank/x)"},
		{"ecryptfs", "/home/.x", "cannot tell: ecryptfs: no block device of its own, and not known what it is on (/home/.x)"},
		{"bcachefs", "/dev/sda:/dev/sdb", "cannot tell: bcachefs: on devices of its own, which the source names (/dev/sda:/dev/sdb)"},
		{"newfs", "none", "cannot tell: newfs: no block device of its own, and not known what it is on"},
	}
	for _, test := range tests {
		m, task := one(t, onHost(nil), node(), "/x", "101 100 0:77 / /data rw - "+test.fsType+" "+test.source+" rw")
		if m.NoLV != test.want || m.Device != number(0, 77) || !hasStorage(task, number(0, 77)) {
			t.Errorf("%s %s: %q, want %q", test.fsType, test.source, m.NoLV, test.want)
		}
		if b := BackingOf(node(), number(0, 77), test.fsType); strings.HasPrefix(b.NoLV, cannotTell) != strings.HasPrefix(test.want, cannotTell) || b.NoLV == "" {
			t.Errorf("%s: BackingOf says %q", test.fsType, b.NoLV)
		}
	}
}
