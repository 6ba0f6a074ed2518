package show

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/namespaces"
	"github.com/mountward/mountward/pkg/pins"
	"github.com/mountward/mountward/pkg/target"
)

// pinned is a volume with one holder of most kinds, and one that nothing was
// found of.
func pinned() Pins {
	started := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	agent := pins.Owner{ContainerID: "0123456789abcdef", Container: "cadvisor", Namespace: "kube-system", Pod: "cadvisor-abc", PodUID: "9"}
	t := target.Target{
		Name: "vg0/pvc-1", Kind: target.KindLV, Block: dev(253, 7), Blocks: []facts.DeviceNumber{dev(253, 7)},
		Superblocks: []target.Superblock{{Device: dev(253, 7), FSType: "xfs", Name: "dm-7", LV: "vg0/pvc-1"}},
	}
	line := "903 850 253:7 / /rootfs" + podDir + "/volumes/kubernetes.io~csi/pvc-1/mount rw,relatime - xfs /dev/vg0/pvc-1 rw"
	return Pins{
		Schema: PinsSchema, Node: Node{Kernel: "6.12.0", KubeletRoot: "/var/lib/kubelet", Rung: "statmount"},
		Groups: []pins.Group{{Holder: "container cadvisor of pod kube-system/cadvisor-abc", Namespace: 4026532701, PID: 900, Mounts: 41, Targets: 3, Pods: 12, DeadPods: 12}},
		Reports: []pins.Report{
			{
				Target: t, Alive: facts.Is(true, "/sys/fs/xfs/dm-7 exists"), Open: &pins.OpenCount{Count: 2, Explained: 1, Show: "dmsetup info"},
				Notes: []string{"runc[7] had it for a moment"},
				Holders: []pins.Holder{
					{
						Kind: pins.KindMount, Where: pins.WhereHost, Use: pins.UseOwn, User: true, Namespace: 4026531841, Why: "the kubelet's mount for a pod that is there: the volume's use",
						Mounts:   []pins.Mount{{ID: 31, MountPoint: "/data", State: facts.MountState{Peer: 8}, Line: "31 22 253:7 / /data"}},
						Evidence: []pins.Evidence{{Text: "31 22 253:7 / /data", Show: "grep -n '^31 ' /proc/1/mountinfo"}},
					},
					{
						Kind: pins.KindMount, Where: pins.WhereContainer, Use: pins.UseCopy, Namespace: 4026532701, Owner: agent, Why: "a private copy, taken when the namespace was made: it stays when the host unmounts",
						Mounts: []pins.Mount{{ID: 903, MountPoint: "/rootfs/mount", Line: line}, {ID: 904, MountPoint: "/rootfs/other"}}, MountsOmitted: 3,
						Processes: []pins.Process{{PID: 900, Comm: "cadvisor", Started: started, UID: new(uint32)}}, Evidence: []pins.Evidence{{Text: line, Show: "grep -n '^903 ' /proc/900/mountinfo"}},
						Cures: []pins.Cure{
							{What: "unmount it there", Commands: []string{"umount -N /proc/900/ns/mnt /rootfs/mount", "umount -N /proc/900/ns/mnt /rootfs/other"}, Cost: "what runs there loses the path"},
							{What: "restart the container", Commands: []string{"crictl stop 0123456789abcdef"}, Cost: "it is stopped"},
						},
					},
					{
						Kind: pins.KindOpenFile, Where: pins.WhereHost, Namespace: 4026531841, Why: "the open file /data/x", Owner: pins.Owner{Unit: "backup.service"},
						Files:     []pins.File{{Kind: pins.KindOpenFile, Link: "fd/7", Path: "/data/x"}},
						Processes: []pins.Process{{PID: 12, Comm: "tar"}}, Evidence: []pins.Evidence{{Text: "fd/7 -> /data/x"}},
						Cures: []pins.Cure{{What: "let process 12 close fd/7", Cost: "none"}},
					},
					{Kind: pins.KindLoop, Where: pins.WhereKernel, Device: "loop3", Path: "/data/image", Why: "the loop device loop3 is bound to /data/image", Evidence: []pins.Evidence{{Text: "loop3: back-file /data/image", Show: "losetup -l /dev/loop3"}}},
				},
				Omitted: 2, Suspects: []string{"the device is open 2 times, of which 1 are explained (dmsetup info)"}, Searched: []string{"all"}, Unknown: []namespaces.Unknown{},
			},
			{
				Target: target.Target{Name: "/srv/x", Kind: target.KindPath, Superblocks: []target.Superblock{{Device: dev(8, 1), FSType: "ext4", Root: "/srv/x"}}},
				Alive:  facts.CannotTell("no right"), Holders: []pins.Holder{}, Searched: []string{"3 mount tables of 3 mount namespaces, by the kernel's list"}, Suspects: []string{"a descriptor on its way through a socket"},
				Unknown: []namespaces.Unknown{{What: "files of 3 processes", Why: "permission denied"}},
			},
		},
		Unknown: []namespaces.Unknown{{What: "container x", Why: "half-written"}},
	}
}

func TestPinsOfANode(t *testing.T) {
	golden(t, "pins.table", text(t, func(w io.Writer) error { return PinsTable(w, pinned()) }))
	golden(t, "pins.json", text(t, func(w io.Writer) error { return JSON(w, pinned()) }))
	golden(t, "pins-none.table", text(t, func(w io.Writer) error { return PinsTable(w, Pins{}) }))
}

// TestAPinsNameIsOneWordOfOneLine: whatever somebody calls a pod, a path or a
// process.
func TestAPinsNameIsOneWordOfOneLine(t *testing.T) {
	plain := text(t, func(w io.Writer) error { return PinsTable(w, pinsOfName("x")) })
	for _, name := range hostile() {
		got := text(t, func(w io.Writer) error { return PinsTable(w, pinsOfName(name)) })
		if name != "" && strings.Count(got, "\n") != strings.Count(plain, "\n") {
			t.Errorf("%q makes %d lines of %d:\n%s", name, strings.Count(got, "\n"), strings.Count(plain, "\n"), got)
		}
		if strings.ContainsFunc(got, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
			t.Errorf("%q reaches the terminal: %q", name, got)
		}
		out := text(t, func(w io.Writer) error { return JSON(w, pinsOfName(name)) })
		if !json.Valid([]byte(out)) {
			t.Errorf("%q: no JSON", name)
		}
	}
}

// pinsOfName is a report in which one name stands wherever a name can.
func pinsOfName(name string) Pins {
	holder := func(kind pins.Kind) pins.Holder {
		return pins.Holder{
			Kind: kind, Where: name, Use: name, Why: name, Device: name, Path: name,
			Processes: []pins.Process{{PID: 1, Comm: name}},
			Owner:     pins.Owner{ContainerID: name, Container: name, Namespace: name, Pod: name, PodUID: name, Unit: name},
			Evidence:  []pins.Evidence{{Text: name, Show: "x " + name}}, Cures: []pins.Cure{{What: name, Commands: []string{name}, Cost: name}},
		}
	}
	mount, file, other := holder(pins.KindMount), holder(pins.KindOpenFile), holder(pins.Kind(name))
	mount.Mounts = []pins.Mount{{MountPoint: name, Root: name, Line: name}, {}}
	file.Files = []pins.File{{Path: name, Link: name}}
	return Pins{
		Groups: []pins.Group{{Holder: name}},
		Reports: []pins.Report{{
			Target:  target.Target{Name: name, Kind: name, Superblocks: []target.Superblock{{FSType: name, Root: "/" + name, LV: "y" + name}}, Chain: &device.Chain{}},
			Alive:   facts.Is(true, "x"+name),
			Holders: []pins.Holder{mount, file, other}, Notes: []string{name}, Suspects: []string{name},
		}, {Searched: []string{name}}},
	}
}
