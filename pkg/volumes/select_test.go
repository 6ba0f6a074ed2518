package volumes

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// selectable is a survey with a task on many things, and one on nothing known.
func selectable() Survey {
	d := node()
	store := func(n facts.DeviceNumber, fsType string) Storage {
		c, err := d.Chain(n)
		return storage(n, fsType, c, err)
	}
	tmpfs := storage(number(0, 9), "tmpfs", device.Chain{}, noDevice("tmpfs: in memory"))
	lv1, over, root, disk := store(number(253, 2), "xfs"), store(number(253, 5), "xfs"), store(number(8, 1), "ext4"), store(number(8, 16), "")
	main := Member{
		Container: facts.Container{ID: "abcdef123456", Name: "main", Pod: facts.Pod{Name: "db-0", Namespace: "prod", UID: podUID}},
		Task: Task{
			Rootfs: Rootfs{
				Path: "/b/rootfs", FSType: "overlay", Superblock: number(0, 50), Root: "/rootfs/fs", Upper: "/pvc/rootfs/fs",
				Lower: []Lower{{Path: "/l", Device: number(8, 1)}}, Backing: lv1.backing(),
			},
			Mounts: []Mount{
				{Destination: "/data", Root: "/sub", FSType: "xfs", Backing: over.backing()},
				{Destination: "/shm", Root: "/", FSType: "tmpfs", Backing: tmpfs.backing()},
				{Destination: "/pods", Root: "/k", FSType: "ext4", Backing: root.backing(), Submounts: submountsOf([]Submount{{Destination: "/pods/v", FSType: "xfs", Mounted: facts.Identity{Device: number(253, 5), Root: "/sub"}, Backing: over.backing()}, {Destination: "/pods/t", FSType: "tmpfs", Mounted: facts.Identity{Device: number(0, 9), Root: "/"}, Backing: tmpfs.backing()}}, func(facts.DeviceNumber) *Storage { return &over })},
			},
			Raw:     []Raw{{Path: "/dev/xvda", Backing: disk.backing()}},
			Storage: []Storage{lv1, root, over, tmpfs, disk},
		},
	}
	gone := Member{Container: facts.Container{ID: "ab99", Name: "gone", Pod: facts.Pod{Name: "db-1", Namespace: "test"}}, Task: Unmapped(0, "it has no process")}
	return Survey{
		Members: []Member{main, gone},
		Marks:   []Mark{{Code: MarkTwin, Backing: lv1.backing()}, {Code: MarkNoSuchPod, Backing: Backing{Device: number(253, 4), LV: "vg0/pvc-2"}}},
		Unknown: []Unknown{{What: "x", Why: "y"}},
	}
}

// summary says what is left of a survey.
func summary(s Survey) string {
	var words []string
	for _, m := range s.Members {
		words = append(words, m.Container.Name+":")
		if m.Rootfs.Path != "" {
			words = append(words, "/")
		}
		for _, t := range m.Mounts {
			words = append(words, t.Destination)
		}
		for _, r := range m.Raw {
			words = append(words, r.Path)
		}
		words = append(words, fmt.Sprintf("%d storages", len(m.Storage)))
	}
	for _, m := range s.Marks {
		words = append(words, m.Code)
	}
	return strings.Join(words, " ")
}

func TestSelect(t *testing.T) {
	const all = "main: / /data /shm /pods /dev/xvda 5 storages"
	at := func(n facts.DeviceNumber, root string) Filter {
		return Filter{Path: facts.Identity{Device: n, Root: root}}
	}
	tests := []struct {
		name   string
		filter Filter
		want   string
	}{
		{"nothing asked", Filter{}, all + " gone: 0 storages twin-view no-such-pod"},
		{"the beginning of an id", Filter{Name: "abcd"}, all + " twin-view"},
		{"the beginning of two ids", Filter{Name: "ab"}, all + " gone: 0 storages twin-view"},
		{"the middle of an id", Filter{Name: "cdef"}, ""},
		{"a container", Filter{Name: "main"}, all + " twin-view"},
		{"the beginning of a container's name", Filter{Name: "mai"}, ""},
		{"a pod by name", Filter{Name: "db-1"}, "gone: 0 storages"},
		{"a pod by uid", Filter{Name: podUID}, all + " twin-view"},
		{"--pod", Filter{Pod: "db-0"}, all + " twin-view"},
		{"--pod is no container", Filter{Pod: "main"}, ""},
		{"--namespace", Filter{Namespace: "test"}, "gone: 0 storages"},
		{"both", Filter{Namespace: "test", Name: "main"}, ""},
		{"a logical volume below the root", Filter{LV: "vg0/pvc-1"}, "main: / 2 storages twin-view"},
		{"one that is below another", Filter{LV: "vg0/under"}, "main: /data /pods 2 storages"},
		{"one on top, also of what lies on a mount", Filter{LV: "vg1/over"}, "main: /data /pods 2 storages"},
		{"one that only a mark has", Filter{LV: "vg0/pvc-2"}, "no-such-pod"},
		{"a part of a name", Filter{LV: "vg0/pvc"}, ""},
		{"a superblock's device, of lower layers too", Filter{Device: number(8, 1)}, "main: / /pods 2 storages twin-view"},
		{"the disk of all", Filter{Device: number(8, 0)}, "main: / /data /pods 3 storages twin-view"},
		{"a raw device", Filter{Device: number(8, 16)}, "main: /dev/xvda 1 storages"},
		{"an overlay's own number", Filter{Device: number(0, 50)}, "main: / 2 storages twin-view"},
		{"a device that nobody has", Filter{Device: number(9, 9)}, ""},
		{"a device and a name", Filter{Device: number(8, 16), Name: "gone"}, ""},
		{"the path of a mount", at(number(253, 5), "/sub"), "main: /data /pods 2 storages"},
		{"a path below it", at(number(253, 5), "/sub/deep"), "main: /data /pods 2 storages"},
		{"a path above it", at(number(253, 5), "/"), "main: /data /pods 2 storages"},
		{"a path beside it", at(number(253, 5), "/subx"), ""},
		{"the upper directory", at(number(253, 2), "/rootfs/fs/etc"), "main: / 2 storages twin-view"},
		{"a volume that holds the upper directory", at(number(253, 2), "/"), "main: / 2 storages twin-view"},
		{"a path beside the upper directory", at(number(253, 2), "/other"), ""},
		{"the merged root", at(number(0, 50), "/etc"), "main: / 2 storages twin-view"},
	}
	for _, test := range tests {
		s := selectable()
		got := s.Select(test.filter)
		if text := summary(got); text != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, text, test.want)
		}
		if diff := cmp.Diff([]Unknown{{What: "x", Why: "y"}}, got.Unknown); diff != "" {
			t.Errorf("%s: unknown (-want +got):\n%s", test.name, diff)
		}
		if text := summary(s); text != all+" gone: 0 storages twin-view no-such-pod" {
			t.Errorf("%s: the survey was changed: %s", test.name, text)
		}
	}
}

// TestSelectListsWhatMatches: of the mounts on a mount and of the block devices
// those are told that were asked for, also of what was not listed before.
func TestSelectListsWhatMatches(t *testing.T) {
	d := node()
	lines := []string{"101 100 8:1 /var/lib/kubelet /data rw master:1 - ext4 x rw"}
	for i := range 40 {
		n := number(253, uint32(1000+i))
		d.chains[n] = chainOf(lvLayer(n, "vg", fmt.Sprintf("v%03d", i)))
		lines = append(lines, fmt.Sprintf("%d 101 %s / /data/v%d rw - xfs x rw", 1000+i, n, i), fmt.Sprintf("%d 101 253:1030 /more /data/m%d rw - xfs x rw", 2000+i, i))
	}
	_, task := one(t, onHost(nil), d, kubelet, lines...)
	s := Survey{Members: []Member{{Task: task}}}
	got := s.Select(Filter{LV: "vg/v030"}).Members[0]
	sub := got.Mounts[0].Submounts
	if sub.Count != 41 || len(sub.First) != maxSubmounts || cmp.Diff([]string{"vg/v030"}, sub.LVs) != "" || len(got.Storage) != 2 {
		t.Errorf("count %d, first %d, LVs %v, %d storages", sub.Count, len(sub.First), sub.LVs, len(got.Storage))
	}
	for _, b := range sub.First {
		if b.LV != "vg/v030" {
			t.Errorf("%s is on %s", b.Destination, b.LV)
		}
	}
	if sub := s.Select(Filter{LV: "vg/v039"}).Members[0].Mounts[0].Submounts; sub.Count != 1 || sub.First[0].Destination != "/data/v39" {
		t.Errorf("the last: %+v", sub)
	}
	if sub := s.Select(Filter{Device: number(8, 1)}).Members[0].Mounts[0].Submounts; sub != nil {
		t.Errorf("none of them is on the mount's own device: %+v", sub)
	}
	if sub := task.Mounts[0].Submounts; sub.Count != 80 || len(sub.First) != maxSubmounts {
		t.Errorf("the task was changed: %d", sub.Count)
	}
}

// TestSelectMarks: a root filesystem that was left behind is of one container,
// named by its bundle.
func TestSelectMarks(t *testing.T) {
	dir := func(id string) string { return "/run/containerd/io.containerd.runtime.v2.task/k8s.io/" + id }
	disk := Backing{Device: number(8, 1)}
	orphan := func(id string) Mark {
		return Mark{Code: MarkOrphanRootfs, Path: dir(id) + "/rootfs", Why: id, Backing: disk}
	}
	s := Survey{
		Members: []Member{
			{Container: facts.Container{ID: "gone1", Name: "gone", Pod: facts.Pod{Name: "p"}}, Bundle: hostview.Bundle{Dir: dir("gone1")}, Task: Unmapped(0, "it has no process")},
			{Container: facts.Container{ID: "web1", Name: "web"}, Bundle: hostview.Bundle{Dir: dir("web1")}, Task: Task{
				Rootfs: Rootfs{Backing: disk}, Storage: []Storage{{Device: number(8, 1)}},
			}},
		},
		Marks: []Mark{orphan("gone1"), orphan("left1"), {Code: MarkTwin, Why: "twin", Backing: disk}, {Code: MarkNoSuchPod, Why: "pod", Backing: Backing{Device: number(253, 4), LV: "vg0/pvc-2"}}},
	}
	for _, test := range []struct {
		name   string
		filter Filter
		want   string
	}{
		{"its container", Filter{Name: "gone"}, "gone1"},
		{"its pod", Filter{Pod: "p"}, "gone1"},
		{"one without a bundle, by its id", Filter{Name: "left"}, "left1"},
		{"an id in a pod", Filter{Name: "left", Pod: "p"}, ""},
		{"another container of the same disk", Filter{Name: "web"}, "twin"},
		{"nobody", Filter{Name: "nobody"}, ""},
		{"the disk", Filter{Device: number(8, 1)}, "gone1 left1 twin"},
		{"the disk, of nobody", Filter{Name: "nobody", Device: number(8, 1)}, ""},
		{"a volume, of nobody", Filter{Pod: "nobody", LV: "vg0/pvc-2"}, ""},
		{"the disk, of its container", Filter{Name: "gone", Device: number(8, 1)}, "gone1"},
		{"another disk, of its container", Filter{Name: "gone", Device: number(8, 2)}, ""},
	} {
		var got []string
		for _, m := range s.Select(test.filter).Marks {
			got = append(got, m.Why)
		}
		if text := strings.Join(got, " "); text != test.want {
			t.Errorf("%s: %q, want %q", test.name, text, test.want)
		}
	}
}

// TestSelectLeavesOutWhatIsUnknownOfOthers: a question about one pod does not
// fail for a container that is known to be another's. One of which not even that
// is known can be the one that was meant.
func TestSelectLeavesOutWhatIsUnknownOfOthers(t *testing.T) {
	s := selectable()
	s.Members = append(s.Members, Member{Container: facts.Container{ID: "cc", Pod: facts.Pod{Name: "web-0", UID: "u9"}}}, Member{Container: facts.Container{ID: "dd"}})
	s.Unknown = []Unknown{{What: "container abcdef123456", Why: "its table"}, {What: "container cc", Why: "its process"}, {What: "container dd", Why: "its specification"}, {What: "the host's mount table", Why: "not read"}}
	for _, test := range []struct {
		filter Filter
		want   []string
	}{
		{Filter{Pod: "db-0"}, []string{"container abcdef123456", "container dd", "the host's mount table"}},
		{Filter{Name: "web-0"}, []string{"container cc", "container dd", "the host's mount table"}},
		{Filter{LV: "vg0/pvc-1"}, []string{"container abcdef123456", "container cc", "container dd", "the host's mount table"}},
	} {
		var got []string
		for _, u := range s.Select(test.filter).Unknown {
			got = append(got, u.What)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", test.filter, diff)
		}
	}
}
