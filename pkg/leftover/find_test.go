package leftover

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/hostview"
)

const (
	root  = "/var/lib/kubelet"
	alive = "11111111-0000-4000-8000-000000000001"
	dead  = "22222222-0000-4000-8000-000000000002"
	own   = "33333333-0000-4000-8000-000000000003"

	task = "/run/containerd/io.containerd.runtime.v2.task/k8s.io/"
)

func target(uid, volume string) string {
	return root + "/pods/" + uid + "/volumes/kubernetes.io~csi/" + volume + "/mount"
}

// table makes a table of "DEVICE FSTYPE MOUNTPOINT" lines; a mount point that
// comes again lies on the one before.
func table(t *testing.T, lines ...string) *hostview.Table {
	t.Helper()
	var text strings.Builder
	text.WriteString("1 0 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n")
	on := map[string]int{}
	for i, line := range lines {
		f := strings.Fields(line)
		parent := 1
		if p, ok := on[f[2]]; ok {
			parent = p
		}
		on[f[2]] = i + 2
		fmt.Fprintf(&text, "%d %d %s / %s rw shared:1 - %s x rw\n", i+2, parent, f[0], f[2], f[1])
	}
	tab, err := hostview.ReadTable(strings.NewReader(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// TestFind has what is left, and beside each what looks like it and is not.
func TestFind(t *testing.T) {
	driver := func(e *End) { e.Shared = []string{root} }
	tests := []struct {
		name          string
		before, after []string
		later         []string // mounted after its end
		end           func(*End)
		want          []string
	}{
		{
			name: "nothing", before: nil, after: nil,
		},
		{
			name:  "the root filesystem, and not that of another container",
			after: []string{"0:50 overlay " + task + "me/rootfs", "0:51 overlay " + task + "other/rootfs"},
			want:  []string{"rootfs " + task + "me/rootfs"},
		},
		{
			name:  "a volume of its own pod when that has no task",
			after: []string{"253:2 xfs " + target(own, "pvc-1"), "253:3 xfs " + target(own, "pvc-2") + "/below", "253:3 xfs " + target(dead, "pvc-3")},
			want:  []string{"dead-pod " + target(own, "pvc-1"), "dead-pod " + target(own, "pvc-2") + "/below"},
		},
		{
			name:  "nothing of its own pod while that has a task",
			after: []string{"253:2 xfs " + target(alive, "pvc-1")},
			end:   func(e *End) { e.PodUID = alive },
		},
		{
			name:  "what a driver published for a pod that is gone, but not what was there before it",
			after: []string{"253:2 xfs " + target(dead, "old"), "253:3 xfs " + target(dead, "new"), "253:4 xfs " + target(alive, "new")},
			// a mount of the same at the same place is the same mount to us
			before: []string{"253:2 xfs " + target(dead, "old")},
			end:    driver,
			want:   []string{"dead-pod " + target(dead, "new")},
		},
		{
			name: "no staging directory and no directory of a driver's own",
			after: []string{
				"253:2 xfs " + root + "/plugins/kubernetes.io/csi/pv/pvc-1/globalmount",
				"253:2 xfs " + root + "/plugins/kubernetes.io/csi/drv/" + strings.Repeat("ab", 32) + "/globalmount",
				"253:3 xfs " + root + "/plugins/lvm.example.com/staging/x",
			},
			end: driver,
		},
		{
			name:   "what one shared mount in another makes of the directory itself",
			before: []string{"8:1 ext4 " + root + "/pods"},
			after:  []string{"8:1 ext4 " + root + "/plugins", "8:1 ext4 " + root + "/pods", "8:1 ext4 " + root + "/pods", "8:1 ext4 " + root + "/pods"},
			end:    driver,
			want:   []string{"made " + root + "/plugins", "doubled " + root + "/pods x3"},
		},
		{
			name:  "what the kernel or a process serves",
			after: []string{"0:60 bpf /mnt/own/bpf", "0:61 cgroup2 /mnt/own/cg", "0:4 nsfs /mnt/own/netns", "0:62 fuse.s3fs /mnt/own/s3", "0:63 fuse /mnt/own/f"},
			end:   func(e *End) { e.Shared = []string{"/mnt/own"} },
		},
		{
			name:   "what was made below a path of the container's own",
			before: []string{"253:2 xfs /mnt/own/old"},
			after:  []string{"253:2 xfs /mnt/own/old", "253:3 xfs /mnt/own/new", "253:3 xfs /mnt/owner/new"},
			end:    func(e *End) { e.Shared = []string{"/mnt/own"} },
			want:   []string{"made /mnt/own/new"},
		},
		{
			name:   "nothing that came after its end",
			before: []string{"253:2 xfs /mnt/own/old"},
			after:  []string{"253:2 xfs /mnt/own/old"},
			later:  []string{"253:2 xfs /mnt/own/old", "253:3 xfs /mnt/own/new", "253:4 xfs " + target(dead, "new")},
			end:    func(e *End) { e.Shared = []string{"/mnt/own", root} },
		},
		{
			name:  "not what another container can have made",
			after: []string{"253:3 xfs /mnt/own/new"},
			end: func(e *End) {
				e.Shared = []string{"/mnt/own"}
				e.Others = func(path string) bool { return path == "/mnt/own/new" }
			},
		},
		{
			name:  "not what many make: below / and /run",
			after: []string{"253:3 xfs /mnt/new", "0:50 tmpfs /run/user/0", "0:51 overlay " + task + "other/rootfs"},
			end:   func(e *End) { e.Shared = []string{"/", "/run"} },
		},
		{
			name:  "a dead pod's volume also where / was shared",
			after: []string{"253:3 xfs " + target(dead, "new"), "253:3 xfs " + target(alive, "new")},
			end:   func(e *End) { e.Shared = []string{"/"} },
			want:  []string{"dead-pod " + target(dead, "new")},
		},
		{
			name:   "what doubled, also of a pod that lives and in a staging directory",
			before: []string{"253:2 xfs " + target(alive, "a"), "253:3 xfs " + target(alive, "b"), "253:4 xfs " + root + "/plugins/kubernetes.io/csi/pv/p/globalmount"},
			after: []string{
				"253:2 xfs " + target(alive, "a"), "253:2 xfs " + target(alive, "a"), "253:3 xfs " + target(alive, "b"),
				"253:4 xfs " + root + "/plugins/kubernetes.io/csi/pv/p/globalmount", "253:4 xfs " + root + "/plugins/kubernetes.io/csi/pv/p/globalmount",
			},
			end:  driver,
			want: []string{"doubled " + target(alive, "a") + " x2", "doubled " + root + "/plugins/kubernetes.io/csi/pv/p/globalmount x2"},
		},
		{
			name:   "three of two is not twice",
			before: []string{"253:2 xfs /mnt/own/a", "253:2 xfs /mnt/own/a"},
			after:  []string{"253:2 xfs /mnt/own/a", "253:2 xfs /mnt/own/a", "253:2 xfs /mnt/own/a"},
			end:    func(e *End) { e.Shared = []string{"/mnt/own"} },
		},
		{
			name:   "another volume over one is no doubling",
			before: []string{"253:2 xfs " + target(alive, "a")},
			after:  []string{"253:2 xfs " + target(alive, "a"), "253:9 xfs " + target(alive, "a")},
			end:    driver,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := End{
				Rootfs: task + "me/rootfs", PodUID: own, KubeletRoot: root,
				RuntimeDirs: []string{"/run/containerd", "/var/lib/containerd"},
				Alive:       func(uid string) bool { return uid == alive },
				Others:      func(string) bool { return false },
			}
			if test.end != nil {
				test.end(&e)
			}
			e.Baseline = Remember(table(t, test.before...), e.Shared)
			e.AtEnd = Remember(table(t, test.after...), e.Shared)
			if diff := cmp.Diff(test.want, said(e.Find(table(t, append(test.after, test.later...)...)))); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
		})
	}
}

func said(mounts []Mount) []string {
	var said []string
	for _, m := range mounts {
		line := m.Code + " " + m.MountPoint
		if m.Count > 1 {
			line += fmt.Sprintf(" x%d", m.Count)
		}
		said = append(said, line)
	}
	return said
}

// TestWithoutABaseline: what is old and what is new cannot be told, and so is
// not; the root filesystem and the own pod need none.
func TestWithoutABaseline(t *testing.T) {
	full := make([]string, maxBaseline+1)
	for i := range full {
		full[i] = fmt.Sprintf("253:2 xfs /mnt/own/%d", i)
	}
	after := []string{"0:50 overlay " + task + "me/rootfs", "253:2 xfs /mnt/own/new", "253:2 xfs /mnt/own/new", "253:3 xfs " + target(own, "a")}
	want := []string{"rootfs " + task + "me/rootfs", "dead-pod " + target(own, "a")}
	for name, baseline := range map[string]*Baseline{"none": nil, "cut short": Remember(table(t, full...), []string{"/mnt/own"})} {
		e := End{
			Rootfs: task + "me/rootfs", PodUID: own, KubeletRoot: root, Shared: []string{"/mnt/own"}, Baseline: baseline,
			Alive: func(string) bool { return false }, Others: func(string) bool { return false },
		}
		if diff := cmp.Diff(want, said(e.Find(table(t, after...)))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
