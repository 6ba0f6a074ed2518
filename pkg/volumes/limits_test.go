package volumes

import (
	"fmt"
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
	limits, unknown := s.Limits(Filter{})
	var lines []string
	for _, l := range limits {
		lines = append(lines, l.String())
	}
	const rest = " rbps=max wbps=max riops=max wiops=max"
	if diff := cmp.Diff([]string{"8:0" + rest, "253:2" + rest, "253:4" + rest, "253:7" + rest, "259:0" + rest}, lines); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
	want := []Unknown{
		{What: `mount "/n\n" of container main of pod prod/db-0`, Why: "nfs4: not on a device of this node"},
		{What: "mount /x of container main of pod prod/db-0", Why: "cannot tell: gone"},
		{What: "the root filesystem of container c2", Why: "cannot tell: it has no process"},
	}
	if diff := cmp.Diff(want, unknown); diff != "" {
		t.Errorf("unknown (-want +got):\n%s", diff)
	}
	s.Members[1].Ended = true
	if _, unknown := s.Limits(Filter{}); len(unknown) != 2 {
		t.Errorf("one that has ended: %+v", unknown)
	}
	if _, unknown := s.Limits(Filter{Name: "c2"}); len(unknown) != 1 {
		t.Errorf("one that has ended and is named: %+v", unknown)
	}
	// What a filter left out is not limited.
	limits, unknown = s.Limits(Filter{Device: number(259, 0)})
	if len(limits) != 1 || !strings.HasPrefix(limits[0].String(), "259:0 ") || len(unknown) != 0 {
		t.Errorf("selected: %v, unknown %+v", limits, unknown)
	}
	s.Members[0].Rootfs.ReadOnly = true
	if limits, _ := s.Limits(Filter{}); limits[0].Device == number(8, 0) {
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
		got, why := test.storage.Limits(Filter{})
		if diff := cmp.Diff(test.want, got); diff != "" || len(got) == 0 && why != test.why {
			t.Errorf("%s: why %q (-want +got):\n%s", name, why, diff)
		}
	}
}

// limitsOf are the numbers of the limits of a survey, and what is unknown.
func limitsOf(s Survey, f Filter) string {
	var words []string
	all, unknown := s.Limits(f)
	for _, l := range all {
		words = append(words, l.Device.String())
	}
	for _, u := range unknown {
		words = append(words, "no line for "+u.What+": "+u.Why)
	}
	return strings.Join(words, ", ")
}

// TestLimitsOfWhatIsMountedBelow: a mount can be written to where it lies on one
// that cannot, or that is in memory.
func TestLimitsOfWhatIsMountedBelow(t *testing.T) {
	on := []string{
		"101 100 0:70 / /data rw master:1 - tmpfs pods rw",
		"102 101 253:2 / /data/a rw - xfs x rw",
		"103 101 253:4 / /data/b ro - xfs x rw",
		"104 101 253:5 / /data/c rw - xfs x rw",
		"105 101 0:71 / /data/t rw - tmpfs t rw",
	}
	h := onHost(map[string]facts.HostMount{"/srv": {Device: number(0, 70), Root: "/", FSType: "tmpfs"}})
	for _, test := range []struct {
		name   string
		filter Filter
		change func([]string)
		want   string
	}{
		{"all", Filter{}, nil, "8:0, 253:2, 253:5"},
		{"below a read-only mount", Filter{}, func(l []string) { l[0] = strings.Replace(l[0], "rw", "ro", 1) }, "8:0, 253:2, 253:5"},
		{"one of them", Filter{Device: number(253, 2)}, nil, "253:2"},
		{"a volume of them", Filter{LV: "vg0/under"}, nil, "253:5"},
		{"by a path", Filter{Path: facts.Identity{Device: number(253, 5), Root: "/x"}}, nil, "253:5"},
		{"a read-only one", Filter{Device: number(253, 4)}, nil, ""},
		{"the disk of all", Filter{Device: number(8, 0)}, nil, "8:0, 253:2, 253:5"},
		{"below the root file system", Filter{}, func(l []string) {
			l[3] = strings.Replace(l[3], "104 101", "104 100", 1)
			l[3] = strings.Replace(l[3], "/data/c", "/own", 1)
		}, "8:0, 253:2, 253:5"},
		{"below the root file system, by its number", Filter{Device: number(253, 5)}, func(l []string) {
			l[3] = strings.Replace(l[3], "104 101", "104 100", 1)
			l[3] = strings.Replace(l[3], "/data/c", "/own", 1)
		}, "253:5"},
	} {
		lines := append([]string{"100 1 8:1 /snap / rw - ext4 x rw"}, on...)
		if test.change != nil {
			test.change(lines[1:])
		}
		task := Map(t.Context(), located(Sources{
			Outcomes: []facts.Outcome{asked("/data", "/srv", facts.Private)}, Container: tableOf(t, lines...), Host: h, Devices: node(), Whole: true,
		}), 1, "")
		if got := limitsOf(Survey{Members: []Member{{Container: facts.Container{ID: "c"}, Task: task}}}, test.filter); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestLimitsAreOfWhatWasAskedFor, and of no other device of a task that has it.
func TestLimitsAreOfWhatWasAskedFor(t *testing.T) {
	s := selectable()
	for _, test := range []struct {
		name   string
		filter Filter
		want   string
	}{
		{"the device of a lower layer", Filter{Device: number(8, 1)}, "8:0"},
		{"that of the upper directory", Filter{Device: number(253, 2)}, "253:2"},
		{"a device only below another mount", Filter{LV: "vg0/under"}, "253:5"},
		{"a raw device", Filter{Device: number(8, 16)}, "8:16"},
		{"the overlay's own number", Filter{Device: number(0, 50)}, "253:2"},
		{"a path", Filter{Path: facts.Identity{Device: number(253, 2), Root: "/rootfs"}}, "253:2"},
		{"nobody", Filter{Name: "nobody"}, ""},
		{"one that has ended", Filter{Name: "gone"}, "no line for the root filesystem of container gone of pod test/db-1: cannot tell: it has no process"},
		{"one that has ended, and a device", Filter{Name: "gone", Device: number(8, 1)}, ""},
	} {
		if got := limitsOf(s, test.filter); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
	s.Members[0].Mounts = nil // the lower layer alone is on it
	if got := limitsOf(s, Filter{Device: number(8, 1)}); got != "" {
		t.Errorf("a lower layer is not written to: %q", got)
	}
}

// TestLimitsOfAFileSystemOnSeveralDevices: of those, what was asked for.
func TestLimitsOfAFileSystemOnSeveralDevices(t *testing.T) {
	disk := func(n facts.DeviceNumber) device.Layer { return diskLayer(n, "d") }
	a, b := lvLayer(number(253, 2), "vg0", "a"), lvLayer(number(253, 4), "vg0", "b")
	a.Lower, b.Lower = []facts.DeviceNumber{number(8, 0)}, []facts.DeviceNumber{number(8, 16)}
	pool := storage(number(0, 40), "btrfs", device.Chain{Tops: 2, Layers: []device.Layer{a, b, disk(number(8, 0)), disk(number(8, 16))}}, nil)
	s := Survey{Members: []Member{{Task: Task{
		Storage: []Storage{pool}, Mounts: []Mount{{Destination: "/a", Root: "/", Backing: pool.backing()}},
	}}}}
	for _, test := range []struct {
		filter Filter
		want   string
	}{
		{Filter{}, "253:2, 253:4"},
		{Filter{LV: "vg0/b"}, "253:4"},
		{Filter{Device: number(8, 0)}, "253:2"},
		{Filter{Device: number(0, 40)}, "253:2, 253:4"},
	} {
		if got := limitsOf(s, test.filter); got != test.want {
			t.Errorf("%+v: %s, want %s", test.filter, got, test.want)
		}
		var words []string
		all, _ := pool.Limits(test.filter)
		for _, l := range all {
			words = append(words, l.Device.String())
		}
		if got := strings.Join(words, ", "); got != test.want {
			t.Errorf("target, %+v: %s, want %s", test.filter, got, test.want)
		}
	}
	if all, why := pool.Limits(Filter{Device: number(9, 9)}); len(all) != 0 || why == "" {
		t.Errorf("another device: %v %q", all, why)
	}
}

// TestLimitsOfManyRawDevices: those that are listed, and that there are more.
func TestLimitsOfManyRawDevices(t *testing.T) {
	d, all := node(), []facts.Device{}
	for i := range maxRaw + 2 {
		n := number(7, uint32(i))
		d.chains[n] = chainOf(diskLayer(n, fmt.Sprint("loop", i)))
		all = append(all, block(fmt.Sprint("/dev/loop", i), n))
	}
	task := Map(t.Context(), Sources{Container: tableOf(t, "100 1 0:70 / / rw - tmpfs x rw"), Host: onHost(nil), Devices: d, Raw: all, Whole: true}, 1, "")
	s := Survey{Members: []Member{{Container: facts.Container{ID: "c"}, Task: task}}}
	limits, unknown := s.Limits(Filter{})
	if len(limits) != maxRaw+2 || len(unknown) != 0 {
		t.Errorf("%v, %+v", limits, unknown)
	}
	if got := limitsOf(s, Filter{Device: number(7, maxRaw+1)}); got != "7:17" {
		t.Errorf("the last: %s", got)
	}
}

// TestLimitsOfOverlaysBelow: the map of another task tells where one writes.
func TestLimitsOfOverlaysBelow(t *testing.T) {
	s := selectable()
	merged := storage(number(0, 50), "overlay", device.Chain{}, errNotFollowed)
	s.Members = append(s.Members, Member{Container: facts.Container{ID: "agent"}, Task: Task{
		Mounts: []Mount{{Destination: "/run", ReadOnly: true, Submounts: submountsOf([]Submount{
			{Destination: "/run/rootfs", FSType: "overlay", Mounted: facts.Identity{Device: number(0, 50), Root: "/"}, Backing: merged.backing()},
		}, func(facts.DeviceNumber) *Storage { return nil })}},
		Storage: []Storage{merged},
	}})
	if got := limitsOf(s, Filter{Name: "agent"}); got != "253:2" {
		t.Errorf("known: %s", got)
	}
	s.Members = s.Members[1:]
	if got := limitsOf(s, Filter{Name: "agent"}); got != "no line for mount /run/rootfs of container agent: cannot tell: overlay: not followed below another mount" {
		t.Errorf("not known: %s", got)
	}
}
