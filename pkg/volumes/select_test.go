package volumes

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/facts"
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
				{Destination: "/pods", Root: "/k", FSType: "ext4", Backing: root.backing(), Submounts: &Submounts{All: []Storage{over}}},
			},
			Raw:     []Raw{{Path: "/dev/xvda", Backing: disk.backing()}},
			Storage: []Storage{lv1, root, over, tmpfs, disk},
		},
	}
	gone := Member{Container: facts.Container{ID: "ab99", Name: "gone", Pod: facts.Pod{Name: "db-1", Namespace: "test"}}, Task: Unmapped(0, "it has no process")}
	return Survey{
		Members: []Member{main, gone},
		Marks:   []Mark{{Code: MarkTwin, Backing: lv1.backing()}, {Code: MarkNoSuchPod, Backing: Backing{Device: number(253, 4), LV: "vg0/pvc-2"}}},
		Unknown: []Unknown{{"x", "y"}},
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
		{"a path beside it: only what lies on a mount could have it", at(number(253, 5), "/subx"), "main: /pods 2 storages"},
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
		if diff := cmp.Diff([]Unknown{{"x", "y"}}, got.Unknown); diff != "" {
			t.Errorf("%s: unknown (-want +got):\n%s", test.name, diff)
		}
		if text := summary(s); text != all+" gone: 0 storages twin-view no-such-pod" {
			t.Errorf("%s: the survey was changed: %s", test.name, text)
		}
	}
}
