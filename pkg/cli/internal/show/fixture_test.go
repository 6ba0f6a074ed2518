package show

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/audit"
	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/volumes"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares a text with a file of testdata.
func golden(t *testing.T, file, got string) {
	t.Helper()
	file = "testdata/" + file
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

func dev(major, minor uint32) facts.DeviceNumber {
	return facts.DeviceNumber{Major: major, Minor: minor}
}

func logical(name string) *device.LogicalVolume { return &device.LogicalVolume{VG: "vg0", LV: name} }

// disk is the storage of a file system on a whole disk.
func disk() volumes.Storage {
	return volumes.Storage{
		Device: dev(254, 0), FSType: "ext4", NoLV: "no logical volume: vda",
		Chain: device.Chain{Tops: 1, Layers: []device.Layer{{Number: dev(254, 0), Name: "vda", Kind: device.Disk}}},
	}
}

// thin is the storage of a thin logical volume, whose pool's two parts are on
// one partition.
func thin() volumes.Storage {
	return volumes.Storage{Device: dev(253, 7), FSType: "xfs", Chain: device.Chain{Tops: 1, Layers: []device.Layer{
		{Number: dev(253, 7), Name: "dm-7", Kind: device.LV, DMName: "vg0-pvc--1", LV: logical("pvc-1"), Lower: []facts.DeviceNumber{dev(253, 3)}},
		{Number: dev(253, 3), Name: "dm-3", Kind: device.LVLayer, DMName: "vg0-pool-tpool", LV: logical("pool"), Part: "tpool", Lower: []facts.DeviceNumber{dev(253, 1), dev(253, 2)}},
		{Number: dev(253, 1), Name: "dm-1", Kind: device.LVLayer, DMName: "vg0-pool_tmeta", LV: logical("pool_tmeta"), Part: "tmeta", Lower: []facts.DeviceNumber{dev(8, 3)}},
		{Number: dev(253, 2), Name: "dm-2", Kind: device.LVLayer, DMName: "vg0-pool_tdata", LV: logical("pool_tdata"), Part: "tdata", Lower: []facts.DeviceNumber{dev(8, 3)}},
		{Number: dev(8, 3), Name: "sda3", Kind: device.Partition, Lower: []facts.DeviceNumber{dev(8, 0)}},
		{Number: dev(8, 0), Name: "sda", Kind: device.Disk},
	}}}
}

// luks is the storage of a file system that is encrypted on a volume.
func luks() volumes.Storage {
	return volumes.Storage{Device: dev(253, 9), FSType: "ext4", Chain: device.Chain{Tops: 1, Layers: []device.Layer{
		{Number: dev(253, 9), Name: "dm-9", Kind: device.Crypt, DMName: "luks-2", Note: "luks2", Lower: []facts.DeviceNumber{dev(253, 8)}},
		{Number: dev(253, 8), Name: "dm-8", Kind: device.LV, DMName: "vg0-pvc--2", LV: logical("pvc-2"), Lower: []facts.DeviceNumber{dev(259, 0)}},
		{Number: dev(259, 0), Name: "nvme0n1", Kind: device.Disk},
	}}}
}

// pair is the storage of a btrfs on two volumes, one of which could not be
// followed.
func pair() volumes.Storage {
	return volumes.Storage{Device: dev(0, 50), FSType: "btrfs", Chain: device.Chain{Tops: 2, Layers: []device.Layer{
		{Number: dev(253, 10), Name: "dm-10", Kind: device.LV, LV: logical("a"), DMName: "vg0-a", Lower: []facts.DeviceNumber{dev(8, 16)}},
		{Number: dev(253, 11), Name: "dm-11", Kind: device.LV, LV: logical("b"), DMName: "vg0-b", Unknown: "no answer"},
		{Number: dev(8, 16), Name: "sdb", Kind: device.Disk},
	}}}
}

func backing(s volumes.Storage) volumes.Backing {
	b := volumes.Backing{Device: s.Device, NoLV: s.NoLV}
	for _, v := range s.LVs() {
		b.LVs = append(b.LVs, v.String())
	}
	if len(b.LVs) > 0 {
		b.LV = b.LVs[0]
	}
	if len(b.LVs) == 1 {
		b.LVs = nil
	}
	return b
}

func none(number facts.DeviceNumber, why string) volumes.Backing {
	return volumes.Backing{Device: number, NoLV: why}
}

const podDir = "/var/lib/kubelet/pods/6a4e"

// web is a pod's container with a volume as a CSI driver with staging gives it.
func web() Task {
	target := podDir + "/volumes/kubernetes.io~csi/pvc-1/mount"
	return Task{
		Container: audit.Container{
			ID: "aaaabbbbccccddddeeee", Name: "app",
			Pod: facts.Pod{Namespace: "prod", Name: "web-0", UID: "6a4e"},
		},
		Namespace: "k8s.io", Bundle: "/run/containerd/io.containerd.runtime.v2.task/k8s.io/aaaabbbbccccddddeeee", Known: true,
		Identity: facts.Is(true, ""),
		Task: volumes.Task{
			PID: 4711,
			Rootfs: volumes.Rootfs{
				Path:   "/run/containerd/io.containerd.runtime.v2.task/k8s.io/aaaabbbbccccddddeeee/rootfs",
				FSType: "overlay", Upper: "/var/lib/containerd/snapshots/42/fs", Work: "/var/lib/containerd/snapshots/42/work",
				Lower: []volumes.Lower{
					{Path: "/var/lib/containerd/snapshots/4/fs", Device: dev(254, 0)},
					{Path: "/var/lib/containerd/snapshots/3/fs", Device: dev(254, 0)},
					{Path: "/var/lib/containerd/snapshots/2/fs", Device: dev(254, 0)},
					{Path: "/gone", Why: "no such file or directory"},
				},
				Backing: backing(disk()),
			},
			Mounts: []volumes.Mount{
				{
					Destination: "/data", Source: target, Root: "/", Kind: "csi", Volume: "pvc-1", PodUID: "6a4e", FSType: "xfs",
					Asked: facts.Private, Decided: facts.Slave,
					Seen: &facts.MountState{Master: 12}, Host: &facts.MountState{Peer: 12},
					Views: []volumes.View{
						{Path: "/var/lib/kubelet/plugins/kubernetes.io/csi/lvm.example/77/globalmount", Role: volumes.ViewStaging, State: facts.MountState{Peer: 11}},
						{Path: "/mnt/forgotten", Role: volumes.ViewTwin},
					},
					Backing: backing(thin()),
				},
				{
					Destination: "/etc/app", Source: podDir + "/volumes/kubernetes.io~configmap/cfg", Kind: "configmap", Volume: "cfg", FSType: "ext4", ReadOnly: true,
					Asked: facts.Private, Decided: facts.Private, Seen: &facts.MountState{}, Host: &facts.MountState{Peer: 1}, Backing: backing(disk()),
				},
				{
					Destination: "/shared", Source: podDir + "/volumes/kubernetes.io~nfs/home", Kind: "nfs", Volume: "home",
					Asked: facts.Private, Decided: facts.Private, Why: "no answer in 50ms",
					Backing: none(facts.DeviceNumber{}, "cannot tell: no answer in 50ms"),
				},
				{
					Destination: "/etc/hosts", Source: podDir + "/etc-hosts", Kind: volumes.KindKubelet, FSType: "ext4",
					Seen: &facts.MountState{}, Backing: backing(disk()),
				},
			},
			Storage: []volumes.Storage{disk(), thin()},
		},
	}
}

// agent is a node agent whose root file system is on a volume of a pod, and
// which has mounts of the host that came along.
func agent() Task {
	return Task{
		Container: audit.Container{ID: "1111222233334444", Name: "agent", Pod: facts.Pod{Namespace: "kube-system", Name: "agent-x7", UID: "9"}},
		Namespace: "k8s.io", Bundle: "/run/containerd/io.containerd.runtime.v2.task/k8s.io/1111222233334444", Known: true,
		Identity: facts.Is(true, ""),
		Task: volumes.Task{
			PID: 5000,
			Rootfs: volumes.Rootfs{
				Path: "/run/x/rootfs", FSType: "overlay", Upper: "/inner/fs", Work: "/inner/work",
				Lower: []volumes.Lower{{Path: "/var/lib/containerd/snapshots/9/fs", Device: dev(254, 0)}}, Backing: backing(luks()),
			},
			Mounts: []volumes.Mount{{
				Destination: "/host", Source: "/", Kind: volumes.KindHostPath, FSType: "ext4",
				Asked: facts.Slave, Decided: facts.Slave, Seen: &facts.MountState{}, Host: &facts.MountState{Peer: 1},
				OpenEnded: true,
				Submounts: &volumes.Submounts{Count: 30, First: []volumes.Submount{
					{Destination: "/host/boot", FSType: "btrfs", Seen: facts.MountState{Peer: 3, Master: 4}, Backing: backing(pair())},
					{Destination: "/host/proc", FSType: "proc", Backing: none(dev(0, 21), "proc: made by the kernel")},
				}},
				Backing: backing(disk()),
			}, {
				Destination: "/layers", Source: "/srv/merged", Kind: volumes.KindHostPath, FSType: "overlay",
				Superblock: dev(0, 60), Upper: "/srv/upper",
				Asked: facts.Shared, Decided: facts.Shared, Seen: &facts.MountState{Peer: 8}, Host: &facts.MountState{Peer: 8},
				Backing: backing(luks()),
			}},
			Raw: []volumes.Raw{
				{Path: "/dev/block", Kind: "csi", Volume: "pvc-1", Backing: backing(thin())},
				{Path: "/dev/vda", Backing: backing(disk())},
			},
			RawOmitted: 3,
			Storage:    []volumes.Storage{luks(), disk(), pair(), thin()},
		},
	}
}

// pause holds a pod's namespaces; docker is a container of another client.
func pause() Task {
	return Task{
		Container: audit.Container{ID: "ffff", Pod: facts.Pod{Namespace: "prod", Name: "web-0"}}, Sandbox: true,
		Namespace: "k8s.io", Bundle: "/b/k8s.io/ffff",
		Task: volumes.Task{Rootfs: volumes.Rootfs{Path: "/b/k8s.io/ffff/rootfs", FSType: "ext4", Backing: backing(disk())}},
	}
}

func docker() Task {
	return Task{
		Container: audit.Container{ID: "0123456789abcdef"}, Namespace: "moby", Bundle: "/b/moby/0123456789abcdef",
		Identity: facts.CannotTell("process 7: it is gone"),
		Task:     volumes.Unmapped(7, "process 7: it is gone"),
	}
}

func report() Volumes {
	return Volumes{
		Schema: VolumesSchema,
		Node:   Node{Kernel: "6.12.0", KubeletRoot: "/var/lib/kubelet", KubeletEvidence: "default", States: []string{"/run/containerd"}, Rung: "statmount"},
		Tasks:  []Task{agent(), pause(), web(), docker()},
		Marks: []volumes.Mark{
			{Code: volumes.MarkTwin, Path: "/mnt/forgotten", Why: "the superblock of pvc-1 is mounted here as well", Backing: backing(thin())},
			{Code: volumes.MarkNoSuchPod, Path: "/var/lib/kubelet/pods/dead", Why: "no container of this pod runs here; a pod that is just starting looks the same"},
		},
		Unknown: []volumes.Unknown{{What: "container x", Why: "its config.json is half-written"}},
	}
}
