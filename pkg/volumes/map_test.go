package volumes

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// TestMap is the map of one task of a node with everything on it.
func TestMap(t *testing.T) {
	h := onHost(map[string]facts.HostMount{
		"/ctr":     {Device: number(253, 3), Root: "/", FSType: "ext4"},
		"/b":       {Device: number(0, 50), Root: "/", FSType: "overlay"},
		"/mnt/nfs": {Device: number(0, 61), Root: "/", FSType: "nfs4"},
		csiTarget:  {Device: number(253, 2), Root: "/", FSType: "xfs", State: facts.MountState{Peer: 7}},
	})
	h.files = map[string]string{csiVolume + "/vol_data.json": volumeDataOf1}
	size := []hostview.Statfs{{BlockSize: 4096, Blocks: 100, Files: 10}}
	h.stats = map[string][]hostview.Statfs{"/ctr/snap 1/fs": size, "/b/rootfs": size}
	h.errs = map[string]error{"/hung": errHung("/hung")}
	raised := asked("/data", csiTarget, facts.Private)
	raised.Decided, raised.Result = facts.Slave, facts.Applied
	s := located(Sources{
		Outcomes: []facts.Outcome{
			raised,
			asked("/nfs", "/mnt/nfs", facts.Private),
			asked("/var/run/link", "/srv/link", facts.Private),
			asked("/gone", "/srv/gone", facts.Private),
			asked("/hung", "/hung/x", facts.Slave),
			{Mount: facts.Mount{Destination: "/proc", Type: "proc", Source: "proc"}},
		},
		Container: tableOf(t,
			`100 1 0:50 / / rw - overlay overlay rw,lowerdir=/l,upperdir=/ctr/snap\0401/fs,workdir=/ctr/snap\0401/work`,
			`101 100 253:2 / /data ro master:7 - xfs /dev/mapper/vg0-old--name rw`,
			`102 100 0:61 / /nfs rw - nfs4 server:/export rw`,
			`103 100 8:1 /srv/link /run/link rw - ext4 /dev/sda1 rw`,
			`104 100 0:62 / /hung rw master:9 - fuse.s3fs s3 rw`,
			`105 100 0:63 / /proc rw - proc proc rw`,
		),
		Host: h, Devices: node(), KubeletRoot: kubelet,
	})
	got := Map(context.Background(), s, 42, "/b/rootfs")
	crypt := Backing{Device: number(253, 3), Name: "dm-3", DMName: "luks-home", NoLV: "no logical volume: crypt luks-home (luks2), sda"}
	noGone := "no mount at /gone in the container's table, and none of what was decided about"
	want := Task{
		PID: 42,
		Rootfs: Rootfs{
			Path: "/b/rootfs", FSType: "overlay", Superblock: number(0, 50), Root: "/snap 1/fs", Upper: "/ctr/snap 1/fs", Work: "/ctr/snap 1/work",
			Lower:    []Lower{{Path: "/l", Device: number(8, 1)}},
			Verified: facts.Is(true, "statfs tells 100 blocks of 4096 bytes and 10 files of both"), Backing: crypt,
		},
		Mounts: []Mount{
			{
				Destination: "/data", Source: csiTarget, Root: "/", Kind: "csi", Volume: "pvc-1", PodUID: podUID, FSType: "xfs", ReadOnly: true,
				Driver: "lvm.example.com", Handle: "handle-1", Lifecycle: "Persistent", MountPoint: csiTarget,
				Asked: facts.Private, Decided: facts.Slave, Seen: &facts.MountState{Master: 7}, Host: &facts.MountState{Peer: 7},
				OpenEnded: true, Backing: backing1(),
			},
			{
				Destination: "/nfs", Source: "/mnt/nfs", Root: "/", Kind: KindHostPath, FSType: "nfs4", MountPoint: "/mnt/nfs",
				Asked: facts.Private, Decided: facts.Private, Seen: &facts.MountState{}, Host: &facts.MountState{},
				Backing: Backing{Device: number(0, 61), NoLV: "nfs4: not on a device of this node (server:/export)"},
			},
			{
				Destination: "/var/run/link", At: "/run/link", Source: "/srv/link", Root: "/srv/link", Kind: KindHostPath, FSType: "ext4", MountPoint: "/",
				Asked: facts.Private, Decided: facts.Private, Seen: &facts.MountState{}, Host: &facts.MountState{Peer: 1},
				Backing: backingOfRoot(),
			},
			{
				Destination: "/gone", Source: "/srv/gone", Kind: KindHostPath,
				Asked: facts.Private, Decided: facts.Private,
				Why: noGone, Backing: Backing{NoLV: "cannot tell: " + noGone},
			},
			{
				Destination: "/hung", Source: "/hung/x", Root: "/", Kind: KindHostPath, FSType: "fuse.s3fs",
				Asked: facts.Slave, Decided: facts.Slave, Seen: &facts.MountState{Master: 9},
				Why: "/hung: its file system did not answer in 50ms", OpenEnded: true,
				Backing: Backing{Device: number(0, 62), NoLV: "fuse.s3fs: served by a process (s3)"},
			},
		},
	}
	storage := got.Storage
	got.Storage = nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("map (-want +got):\n%s", diff)
	}
	var listed []string
	for _, s := range storage {
		listed = append(listed, s.Device.String()+" "+s.FSType+" "+s.NoLV)
	}
	wantListed := []string{
		"253:3 ext4 " + crypt.NoLV, "8:1 ext4 " + noLVDisk, "253:2 xfs ",
		"0:61 nfs4 nfs4: not on a device of this node (server:/export)", "0:62 fuse.s3fs fuse.s3fs: served by a process (s3)",
	}
	if diff := cmp.Diff(wantListed, listed); diff != "" {
		t.Errorf("storage (-want +got):\n%s", diff)
	}
	if len(storage[2].Layers) != 2 || storage[2].Layers[1].Name != "sda" || storage[3].Layers == nil {
		t.Errorf("the chain of 253:2 is %+v, that of nfs %+v", storage[2].Layers, storage[3].Layers)
	}
}

// TestEachIsAskedOnce: the devices of one task, whatever lies on them.
func TestEachIsAskedOnce(t *testing.T) {
	d := node()
	outcomes := []facts.Outcome{asked("/a", "/srv/a", facts.Private), asked("/b", "/srv/b", facts.Private)}
	s := located(Sources{
		Outcomes: outcomes, Host: onHost(nil), Devices: d,
		Container: tableOf(t, "100 1 8:1 /snap / rw - ext4 x rw", "101 100 8:1 /srv/a /a rw - ext4 x rw", "102 100 8:1 /srv/b /b rw - ext4 x rw"),
		Raw:       []facts.Device{{Path: "/dev/x", Type: "b", Number: number(8, 1)}},
	})
	task := Map(context.Background(), s, 1, "")
	if len(d.asked) != 1 || len(task.Storage) != 1 || len(task.Mounts) != 2 || len(task.Raw) != 1 {
		t.Errorf("asked %v, storage %v, %d mounts, %d devices", d.asked, task.Storage, len(task.Mounts), len(task.Raw))
	}
}

// TestTheProofsAnswersAreUsed: what a source leads to is not asked again.
func TestTheProofsAnswersAreUsed(t *testing.T) {
	h := onHost(nil)
	s := located(Sources{
		Outcomes: []facts.Outcome{asked("/a", "/srv/a", facts.Private)}, Host: h, Devices: node(),
		Container: tableOf(t, "100 1 8:1 /snap / rw - ext4 x rw", "101 100 8:1 /srv/a /a rw - ext4 x rw"),
	})
	h.asked = nil
	s.Lookup = func(path string) (facts.HostMount, error) {
		return facts.HostMount{Canonical: path, MountPoint: "/", Device: number(8, 1), Root: "/", State: facts.MountState{Peer: 77}}, nil
	}
	task := Map(context.Background(), s, 1, "/b/rootfs")
	if task.Mounts[0].Host.Peer != 77 || len(h.asked) != 0 {
		t.Errorf("host state %v, asked %v", task.Mounts[0].Host, h.asked)
	}
}

// TestBackings is what is said of a superblock on a block device.
func TestBackings(t *testing.T) {
	for _, test := range []struct {
		name   string
		device string
		want   Backing
	}{
		{"a logical volume", "253:2", backing1()},
		{"one on another", "253:5", Backing{Device: number(253, 5), Name: "dm-5", DMName: "vg1-over", LV: "vg1/over", LVUUID: "uuid-over"}},
		{"a partition", "8:1", backingOfRoot()},
		{"a lower layer is unknown", "253:9", Backing{Device: number(253, 9), Name: "dm-9", DMName: "odd", NoLV: "cannot tell: dm-9: its slaves could not be read"}},
		{"a device that is gone", "8:99", Backing{Device: number(8, 99), NoLV: "cannot tell: resolve device 8:99: file does not exist"}},
	} {
		m, task := one(t, onHost(nil), node(), "/srv/x", "101 100 "+test.device+" / /data rw - ext4 /dev/mapper/vg9-lie rw")
		if diff := cmp.Diff(test.want, m.Backing); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		if diff := cmp.Diff(test.want, BackingOf(node(), test.want.Device, "ext4")); diff != "" {
			t.Errorf("%s: BackingOf (-want +got):\n%s", test.name, diff)
		}
		if last := task.Storage[len(task.Storage)-1]; last.NoLV != test.want.NoLV {
			t.Errorf("%s: storage %+v", test.name, last)
		}
	}
}

// TestTheSourceOfNow: a source that leads elsewhere by now gives no old name,
// and is not taken for the container's.
func TestTheSourceOfNow(t *testing.T) {
	h := onHost(map[string]facts.HostMount{csiTarget: {Device: number(253, 4), Root: "/", FSType: "xfs"}})
	m, _ := one(t, h, node(), csiTarget, "101 100 253:2 / /data rw - xfs /dev/x rw")
	if m.LV != "vg0/pvc-1" || m.Why != "the source leads to 253:4 / now: it was mounted over or replaced since" {
		t.Errorf("LV %q, why %q", m.LV, m.Why)
	}
	if m.Host != nil || m.MountPoint != "" {
		t.Errorf("the host's side is told of an unrelated mount: %v at %q", m.Host, m.MountPoint)
	}
	m, _ = one(t, onHost(map[string]facts.HostMount{csiTarget: {Device: number(253, 2), Root: "/", FSType: "xfs"}}), node(), csiTarget, "101 100 253:2 / /data rw - xfs /dev/x rw")
	if m.Why != "" {
		t.Errorf("nothing changed: why %q", m.Why)
	}
	if m.Host == nil || m.MountPoint != csiTarget {
		t.Errorf("nothing changed: the host's side is %v at %q", m.Host, m.MountPoint)
	}
}

// TestWhatFollowedTheHost lies over the mount, and the container sees that.
func TestWhatFollowedTheHost(t *testing.T) {
	h := onHost(map[string]facts.HostMount{"/srv": {Device: number(253, 2), Root: "/", FSType: "xfs", State: facts.MountState{Peer: 7}}})
	outcome := asked("/data", "/srv", facts.Slave)
	outcome.Mount.Host = &facts.HostMount{Canonical: "/srv", MountPoint: "/", Root: "/", Device: number(8, 1)}
	s := located(Sources{
		Outcomes: []facts.Outcome{outcome}, Host: h, Devices: node(),
		Container: tableOf(t, "100 1 8:1 /snap / rw - ext4 x rw", "101 100 8:1 /srv /data rw master:1 - ext4 x rw", "102 101 253:2 / /data rw master:7 - xfs y rw"),
	})
	m := Map(context.Background(), s, 1, "").Mounts[0]
	if m.Why != "hidden in the container by 253:2 /, which the host mounted over the source since" {
		t.Errorf("why = %q", m.Why)
	}
	if m.LV != "" || m.Submounts == nil || m.Submounts.First[0].LV != "vg0/pvc-1" {
		t.Errorf("LV %q, submounts %+v", m.LV, m.Submounts)
	}
}

// TestUnmapped: what was not read is not said to be absent.
func TestUnmapped(t *testing.T) {
	got := Unmapped(7, "process 7: it is gone")
	want := Task{PID: 7, Rootfs: Rootfs{Backing: Backing{NoLV: "cannot tell: process 7: it is gone"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("map (-want +got):\n%s", diff)
	}
}
