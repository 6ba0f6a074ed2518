package volumes

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/facts"
)

func TestLimits(t *testing.T) {
	part := device.Chain{Tops: 1, Layers: []device.Layer{
		{Number: number(259, 3), Name: "nvme0n1p3", Kind: device.Partition, Lower: []facts.DeviceNumber{number(259, 0)}}, diskLayer(number(259, 0), "nvme0n1"),
	}}
	kpartx := chainOf(device.Layer{Number: number(253, 7), Name: "dm-7", DMName: "mpatha1", Kind: device.Partition}, device.Layer{Number: number(253, 8), Kind: device.Multipath})
	pool := device.Chain{Tops: 2, Layers: []device.Layer{lvLayer(number(253, 2), "vg0", "a"), lvLayer(number(253, 4), "vg0", "b")}}
	sda, _ := node().Chain(number(8, 1))
	store := []Storage{
		storage(number(259, 3), "xfs", part, nil), storage(number(253, 7), "xfs", kpartx, nil), storage(number(0, 40), "btrfs", pool, nil), storage(number(8, 1), "ext4", sda, nil),
		storage(number(0, 9), "tmpfs", device.Chain{}, noDevice("tmpfs: in memory")), storage(number(0, 8), "nfs4", device.Chain{}, noDevice("nfs4: not on a device of this node")),
	}
	on := func(n facts.DeviceNumber) Backing {
		for _, s := range store {
			if s.Device == n {
				return s.backing()
			}
		}
		return Backing{Device: n, NoLV: "cannot tell: gone"}
	}
	s := Survey{Members: []Member{{
		Container: facts.Container{ID: "id", Name: "main", Pod: facts.Pod{Name: "db-0", Namespace: "prod"}},
		Task: Task{
			Storage: store, Rootfs: Rootfs{Backing: on(number(8, 1))},
			Mounts: []Mount{
				{Destination: "/a", Backing: on(number(259, 3))},
				{Destination: "/a2", Backing: on(number(259, 3))},
				{Destination: "/b", Backing: on(number(253, 7))},
				{Destination: "/c", Backing: on(number(0, 40))},
				{Destination: "/ro", ReadOnly: true, Backing: on(number(99, 9))},
				{Destination: "/t", Backing: on(number(0, 9))},
				{Destination: "/n\n", Backing: on(number(0, 8))},
				{Destination: "/x", Backing: on(number(77, 7))},
			},
			Raw: []Raw{{Path: "/dev/r", Backing: on(number(259, 3))}},
		},
	}, {Container: facts.Container{ID: "c2"}, Task: Unmapped(0, "it has no process")}}}
	limits, unknown := s.Limits()
	var lines []string
	for _, l := range limits {
		lines = append(lines, l.String())
	}
	const rest = " rbps=max wbps=max riops=max wiops=max"
	if diff := cmp.Diff([]string{"8:0" + rest, "253:2" + rest, "253:4" + rest, "253:7" + rest, "259:0" + rest}, lines); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
	want := []Unknown{
		{`mount "/n\n" of container main of pod prod/db-0`, "nfs4: not on a device of this node"},
		{"mount /x of container main of pod prod/db-0", "cannot tell: gone"},
		{"the root filesystem of container c2", "cannot tell: it has no process"},
	}
	if diff := cmp.Diff(want, unknown); diff != "" {
		t.Errorf("unknown (-want +got):\n%s", diff)
	}
	// What a filter left out is not limited.
	limits, unknown = s.Select(Filter{Device: number(259, 0)}).Limits()
	if len(limits) != 1 || !strings.HasPrefix(limits[0].String(), "259:0 ") || len(unknown) != 0 {
		t.Errorf("selected: %v, unknown %+v", limits, unknown)
	}
	s.Members[0].Rootfs.ReadOnly = true
	if limits, _ := s.Limits(); limits[0].Device == number(8, 0) {
		t.Error("a read-only root filesystem is limited")
	}
}

// TestLimitsOfATarget: what was asked for by path or device needs no container.
func TestLimitsOfATarget(t *testing.T) {
	chain := func(layers ...device.Layer) Storage {
		return Storage{Device: layers[0].Number, FSType: "xfs", Chain: device.Chain{Layers: layers, Tops: 1}}
	}
	for name, test := range map[string]struct {
		storage Storage
		want    []Limit
		why     string
	}{
		"a logical volume": {
			storage: chain(device.Layer{Number: number(253, 2), Kind: device.LV, DMName: "vg0-a", LV: &device.LogicalVolume{VG: "vg0", LV: "a"}}),
			want:    []Limit{{number(253, 2)}},
		},
		"a partition": {
			storage: chain(device.Layer{Number: number(8, 1), Kind: device.Partition, Lower: []facts.DeviceNumber{number(8, 0)}}, device.Layer{Number: number(8, 0), Kind: device.Disk}),
			want:    []Limit{{number(8, 0)}},
		},
		"a server": {storage: Storage{Device: number(0, 60), FSType: "nfs4", NoLV: "nfs4: not on a device of this node"}, why: "nfs4: not on a device of this node"},
		"memory":   {storage: Storage{Device: number(0, 61), FSType: "tmpfs", NoLV: "tmpfs: in memory"}, why: "tmpfs: in memory"},
	} {
		got, why := test.storage.Limits()
		if diff := cmp.Diff(test.want, got); diff != "" || len(got) == 0 && why != test.why {
			t.Errorf("%s: why %q (-want +got):\n%s", name, why, diff)
		}
	}
}
