package volumes

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
)

const staging = kubelet + "/plugins/kubernetes.io/csi/lvm.example.com/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef/globalmount"

// hostLines is a host with vg0/pvc-1 staged, published to two pods, one of
// which has a part of it, and mounted once more by somebody.
func hostLines() []string {
	return []string{
		"20 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw",
		"21 20 253:2 / " + staging + " rw shared:2 - xfs x rw",
		"22 20 253:2 / " + csiTarget + " rw shared:3 - xfs x rw",
		"23 20 253:2 / " + kubelet + "/pods/" + otherUID + "/volumes/kubernetes.io~csi/pvc-1/mount rw - xfs x rw",
		"24 20 253:2 /part " + kubelet + "/pods/" + otherUID + "/volume-subpaths/pvc-1/main/0 rw - xfs x rw",
		"25 20 253:2 / /mnt/backup rw shared:6 - xfs x rw",
		"26 20 253:2 / /mnt/hidden rw - xfs x rw",
		"27 26 0:90 / /mnt/hidden rw - tmpfs t rw",
		"28 20 8:1 /var/lib/kubelet /data/kubelet rw - ext4 x rw",
		"29 20 253:4 / /srv/lv rw - xfs x rw",
		"30 20 253:4 /a /mnt/a rw - xfs x rw",
	}
}

func csiMount() Mount {
	return Mount{Source: csiTarget, MountPoint: csiTarget, Kind: "csi", Volume: "pvc-1", Root: "/", FSType: "xfs", Backing: backing1()}
}

func TestViews(t *testing.T) {
	all := []View{
		{Path: staging, Role: ViewStaging, Root: "/", State: facts.MountState{Peer: 2}},
		{Path: kubelet + "/pods/" + otherUID + "/volumes/kubernetes.io~csi/pvc-1/mount", Role: ViewTarget, PodUID: otherUID, Root: "/"},
		{Path: kubelet + "/pods/" + otherUID + "/volume-subpaths/pvc-1/main/0", Role: ViewSubPath, PodUID: otherUID, Root: "/part"},
		{Path: "/mnt/backup", Role: ViewTwin, Root: "/", State: facts.MountState{Peer: 6}},
	}
	target := View{Path: csiTarget, Role: ViewTarget, PodUID: podUID, Root: "/", State: facts.MountState{Peer: 3}}
	part := csiMount()
	part.Source = pod + "/volume-subpaths/pvc-1/main/0"
	part.MountPoint, part.Root, part.SubPath = part.Source, "/part/x", true
	root := Mount{Source: "/srv", MountPoint: "/", Kind: KindHostPath, Root: "/srv", FSType: "ext4", Backing: backingOfRoot()}
	whole := Mount{Source: "/srv/lv/", MountPoint: "/srv/lv", Kind: KindHostPath, Root: "/", FSType: "xfs", Backing: Backing{Device: number(253, 4)}}
	directory := whole
	directory.Source = "/srv/lv/a"
	dirOfRoot := csiMount()
	dirOfRoot.MountPoint, dirOfRoot.Root, dirOfRoot.Device = "/", csiTarget, number(8, 1)
	unmapped := csiMount()
	unmapped.Backing, unmapped.FSType = Backing{}, ""
	tests := []struct {
		name  string
		mount Mount
		want  []View
	}{
		{"a volume", csiMount(), all},
		{"a part of it", part, []View{all[0], target, all[1], all[2], all[3]}},
		{"a host path on the root file system", root, nil},
		{"a host path that is a mount", whole, []View{{Path: "/mnt/a", Role: ViewTwin, Root: "/a"}}},
		{"a host path in a mount", directory, nil},
		{"a volume that is a directory of the root file system", dirOfRoot, nil},
		{"a volume that is not known to be mounted", unmapped, nil},
		{"a secret", Mount{Source: pod + "/volumes/kubernetes.io~secret/s", Kind: "secret", FSType: "tmpfs", Backing: Backing{Device: number(253, 2)}}, nil},
	}
	for _, test := range tests {
		task := Task{Mounts: []Mount{test.mount}}
		task.SetViews(tableOf(t, hostLines()...), nil, kubelet)
		if diff := cmp.Diff(test.want, task.Mounts[0].Views); diff != "" || task.Mounts[0].ViewsWhy != "" {
			t.Errorf("%s: why %q (-want +got):\n%s", test.name, task.Mounts[0].ViewsWhy, diff)
		}
	}
}

// TestManyViews: that there are places beyond the limit is said.
func TestManyViews(t *testing.T) {
	lines := hostLines()
	for i := range 20 {
		lines = append(lines, fmt.Sprintf("%d 20 253:2 / /twin/%d rw - xfs x rw", 100+i, i))
	}
	task := Task{Mounts: []Mount{csiMount()}}
	task.SetViews(tableOf(t, lines...), nil, kubelet)
	if m := task.Mounts[0]; len(m.Views) != maxViews || m.ViewsWhy != "more than 16 places" {
		t.Errorf("%d views, why %q", len(m.Views), m.ViewsWhy)
	}
}

// TestViewsWithoutATable: that they are not known is said, where there could be
// any.
func TestViewsWithoutATable(t *testing.T) {
	task := Task{Mounts: []Mount{csiMount(), {Kind: KindRuntime, FSType: "tmpfs", Backing: Backing{Device: number(0, 5)}}}}
	if !task.HasViews() {
		t.Error("a CSI volume has no views")
	}
	task.SetViews(nil, errors.New("busy"), kubelet)
	if got := task.Mounts[0].ViewsWhy; got != "cannot tell: the host's mount table was not read: busy" {
		t.Errorf("why = %q", got)
	}
	if got := task.Mounts[1].ViewsWhy; got != "" {
		t.Errorf("a file of the runtime's: why = %q", got)
	}
	task.SetViews(nil, nil, kubelet)
	if got := task.Mounts[0].ViewsWhy; !strings.HasPrefix(got, cannotTell) {
		t.Errorf("no table: why = %q", got)
	}
	task.Mounts = task.Mounts[1:]
	if task.HasViews() {
		t.Error("a file of the runtime's has views")
	}
}
