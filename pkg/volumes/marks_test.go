package volumes

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// cleanNode is a node without anything to look at.
func cleanNode(t *testing.T) *fakeMachine {
	m := smallNode(t)
	m.host = []string{
		"20 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw",
		"21 20 253:2 / " + staging + " rw shared:2 - xfs x rw",
		"22 20 253:2 / " + csiTarget + " rw shared:3 - xfs x rw",
		"24 20 253:2 /part " + pod + "/volume-subpaths/pvc-1/main/0 rw - xfs x rw",
		"40 20 0:50 / " + bundleDir("k8s.io", "c1") + "/rootfs rw - overlay overlay rw",
	}
	m.mounts[bundleDir("k8s.io", "c1")+"/rootfs"] = facts.HostMount{Device: number(0, 50), Root: "/", FSType: "overlay"}
	return m
}

func marksOf(s Survey, code string) []Mark {
	return keep(s.Marks, func(m Mark) bool { return m.Code == code })
}

func TestACleanNodeHasNoMarks(t *testing.T) {
	s := surveyOf(cleanNode(t), nil)
	if len(s.Marks) != 0 || len(s.Unknown) != 0 {
		t.Errorf("marks %+v, unknown %+v", s.Marks, s.Unknown)
	}
}

func TestOrphanRootfs(t *testing.T) {
	c2 := bundleDir("k8s.io", "c2")
	c1 := bundleDir("k8s.io", "c1")
	orphan := func(m *fakeMachine, dir string, n facts.DeviceNumber, fsType string) {
		if dir != c1 {
			m.host = append(m.host, fmt.Sprintf("50 20 %s / %s/rootfs rw - %s x rw", n, dir, fsType))
		}
		m.mounts[dir+"/rootfs"] = facts.HostMount{Device: n, Root: "/", FSType: fsType}
	}
	tests := []struct {
		name   string
		change func(*fakeMachine)
		path   string // "" for no mark
		why    string
		lv     string
	}{
		{"no bundle", func(m *fakeMachine) {
			orphan(m, c2, number(253, 2), "xfs")
			m.gone = map[string]bool{c2 + "/config.json": true}
		}, c2 + "/rootfs", "has no config.json", "vg0/pvc-1"},
		{"no process", func(m *fakeMachine) {
			orphan(m, c1, number(0, 50), "overlay")
			m.tasks[c1].pid = 0
		}, c1 + "/rootfs", "has no process", ""},
		{"a process that is gone", func(m *fakeMachine) { m.tasks[c1].dead = true }, c1 + "/rootfs", "whose process is gone", ""},
		{"an upper directory on a volume", func(m *fakeMachine) {
			m.tasks[c1].dead = true
			m.overlays = []string{"40 20 0:50 / " + c1 + "/rootfs rw - overlay overlay rw,lowerdir=/l,upperdir=" + csiTarget + "/rootfs/fs"}
			m.stats = map[string][]hostview.Statfs{c1 + "/rootfs": sizes(5), csiTarget + "/rootfs/fs": sizes(5)}
		}, c1 + "/rootfs", "whose process is gone", "vg0/pvc-1"},
		{"another mount with the number", func(m *fakeMachine) {
			m.tasks[c1].dead = true
			m.overlays = []string{"40 20 0:51 / " + c1 + "/rootfs rw - overlay overlay rw,lowerdir=/l,upperdir=" + csiTarget + "/rootfs/fs"}
		}, c1 + "/rootfs", "whose process is gone", ""},
		{"the task started meanwhile", func(m *fakeMachine) {
			orphan(m, c2, number(0, 51), "overlay")
			m.tasks[c2] = &fakeTask{pid: 12, identity: facts.Is(true, "same"), spec: hostview.Spec{Annotations: annotated("container", "x", podUID)}, table: []string{"90 1 8:1 / / rw - ext4 x rw"}}
		}, "", "", ""},
		{"it was unmounted meanwhile", func(m *fakeMachine) {
			orphan(m, c2, number(0, 51), "overlay")
			delete(m.mounts, c2+"/rootfs")
			m.gone = map[string]bool{c2 + "/config.json": true}
		}, "", "", ""},
		{"a Kata container", func(m *fakeMachine) { m.tasks[c1].identity = facts.Is(false, "another") }, "", "", ""},
		{"a process that cannot be proved", func(m *fakeMachine) {
			m.tasks[c1].identity, m.tasks[c1].table = facts.CannotTell("no right"), nil
		}, "", "", ""},
		{"no rootfs at all", func(m *fakeMachine) {
			m.host = append(m.host, "50 20 253:2 / /srv/io.containerd.runtime.v2.task/x/rootfs rw - xfs x rw")
		}, "", "", ""},
		{"not all containers could be listed", func(m *fakeMachine) {
			orphan(m, c2, number(253, 2), "xfs")
			m.gone = map[string]bool{c2 + "/config.json": true}
			m.bundlesErr = errors.New("hung")
		}, "", "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := cleanNode(t)
			test.change(m)
			marks := marksOf(surveyOf(m, nil), MarkOrphanRootfs)
			if test.path == "" {
				if len(marks) != 0 {
					t.Errorf("marks %+v", marks)
				}
				return
			}
			if len(marks) != 1 || marks[0].Path != test.path || !strings.Contains(marks[0].Why, test.why) || marks[0].LV != test.lv || len(marks[0].Evidence) != 1 {
				t.Errorf("marks %+v", marks)
			}
			if test.lv == "" && len(marks) == 1 && !strings.HasPrefix(marks[0].NoLV, cannotTell) {
				t.Errorf("no LV: %q", marks[0].NoLV)
			}
		})
	}
}

func TestNoSuchPod(t *testing.T) {
	m := cleanNode(t)
	other := kubelet + "/pods/" + otherUID
	m.host = append(m.host,
		"60 20 0:80 / "+other+"/volumes/kubernetes.io~secret/s rw - tmpfs tmpfs rw",
		"61 20 253:4 / "+other+"/volumes/kubernetes.io~csi/pvc-2/mount rw shared:9 - xfs x rw",
	)
	one := cleanNode(t)
	one.host = append(one.host, m.host[len(m.host)-1])
	if marks := surveyOf(one, nil).Marks; len(marks) != 1 || !strings.HasPrefix(marks[0].Why, "1 mount of a pod ") {
		t.Errorf("one mount: %+v", marks)
	}
	want := []Mark{{
		Code: MarkNoSuchPod, Path: other, Why: "2 mounts of a pod that has no container on this node; a pod that just starts or ends looks the same",
		Evidence: []string{
			"61 20 253:4 / " + other + "/volumes/kubernetes.io~csi/pvc-2/mount rw shared:9 - xfs x",
			"60 20 0:80 / " + other + "/volumes/kubernetes.io~secret/s rw - tmpfs tmpfs",
		},
		Backing: Backing{Device: number(253, 4), Name: "dm-4", DMName: "vg0-pvc--2", LV: "vg0/pvc-2", LVUUID: "uuid-pvc-2"},
	}}
	if diff := cmp.Diff(want, surveyOf(m, nil).Marks); diff != "" {
		t.Errorf("marks (-want +got):\n%s", diff)
	}
	for i := range 20 {
		m.host = append(m.host, fmt.Sprintf("%d 20 253:2 / %s/volumes/kubernetes.io~csi/v%d/mount rw - xfs x rw", 70+i, other, i))
	}
	marks := marksOf(surveyOf(m, nil), MarkNoSuchPod)
	if len(marks) != 1 || len(marks[0].Evidence) != maxEvidence+1 || marks[0].Evidence[maxEvidence] != "and 14 more" || len(marks[0].LVs) != 2 {
		t.Errorf("many mounts: %+v", marks)
	}
	// Where not all containers of the node are looked at, it can be of another.
	s := surveyOf(m, func(n *Node) { n.StatesWhy = "there is another" })
	if marks := marksOf(s, MarkNoSuchPod); len(marks) != 0 || cmp.Diff([]Unknown{{What: "marks no-such-pod", Why: "there is another"}}, s.Unknown) != "" {
		t.Errorf("not all states: %+v, %+v", marks, s.Unknown)
	}
	// A pod whose only container has ended is there.
	m.tasks[bundleDir("k8s.io", "c9")] = &fakeTask{spec: hostview.Spec{Annotations: annotated("container", "x", otherUID)}}
	if marks := marksOf(surveyOf(m, nil), MarkNoSuchPod); len(marks) != 0 {
		t.Errorf("an ended pod: %+v", marks)
	}
	// Whose container this is cannot be told.
	m.tasks[bundleDir("k8s.io", "c9")] = &fakeTask{specErr: errors.New("half written")}
	s = surveyOf(m, nil)
	if marks := marksOf(s, MarkNoSuchPod); len(marks) != 0 || !strings.HasPrefix(s.Unknown[len(s.Unknown)-1].What, "marks ") {
		t.Errorf("a container without a known pod: %+v, %+v", marks, s.Unknown)
	}
}

func TestOutsideHost(t *testing.T) {
	c1 := bundleDir("k8s.io", "c1")
	own := "102 100 253:4 / /own rw - xfs x rw"
	m := cleanNode(t)
	m.tasks[c1].table = append(m.tasks[c1].table, own, "103 100 253:4 /sub /own2 rw - xfs x rw", "104 100 0:77 / /t rw - tmpfs t rw", "105 100 0:40 / /b rw - btrfs x rw")
	marks := marksOf(surveyOf(m, nil), MarkOutside)
	want := []Mark{
		{
			Code: MarkOutside, Path: "/own", Why: "mounted in container main of pod prod/db-0, and nowhere on the host",
			Evidence: []string{"102 100 253:4 / /own rw - xfs x"},
			Backing:  Backing{Device: number(253, 4), Name: "dm-4", DMName: "vg0-pvc--2", LV: "vg0/pvc-2", LVUUID: "uuid-pvc-2"},
		},
		{
			Code: MarkOutside, Path: "/b", Why: "mounted in container main of pod prod/db-0, and nowhere on the host",
			Evidence: []string{"105 100 0:40 / /b rw - btrfs x"},
			Backing:  Backing{Device: number(0, 40), NoLV: "cannot tell: btrfs: no path of the host is known that leads to it"},
		},
	}
	if diff := cmp.Diff(want, marks); diff != "" {
		t.Errorf("marks (-want +got):\n%s", diff)
	}
	// The container has it no more when it is asked again.
	m = cleanNode(t)
	m.tasks[c1].later = m.tasks[c1].table
	m.tasks[c1].table = append([]string{own}, m.tasks[c1].table...)
	if marks := marksOf(surveyOf(m, nil), MarkOutside); len(marks) != 0 {
		t.Errorf("unmounted meanwhile: %+v", marks)
	}
	// The host has it, though hidden.
	m = cleanNode(t)
	m.tasks[c1].table = append(m.tasks[c1].table, own)
	m.host = append(m.host, "70 20 253:4 / /srv rw - xfs x rw", "71 70 0:88 / /srv rw - tmpfs t rw")
	if marks := marksOf(surveyOf(m, nil), MarkOutside); len(marks) != 0 {
		t.Errorf("hidden on the host: %+v", marks)
	}
	// Two containers have it.
	m = cleanNode(t)
	m.tasks[c1].table = append(m.tasks[c1].table, own)
	m.tasks[bundleDir("k8s.io", "sb")].table = append(m.tasks[bundleDir("k8s.io", "sb")].table, "92 90 253:4 / /own rw - xfs x rw")
	if marks := marksOf(surveyOf(m, nil), MarkOutside); len(marks) != 1 || marks[0].Why != "mounted in the pause container of pod prod/db-0 and 1 more, and nowhere on the host" || len(marks[0].Evidence) != 2 {
		t.Errorf("two containers: %+v", marks)
	}
}

func TestTwinView(t *testing.T) {
	m := cleanNode(t)
	m.host = append(m.host,
		"23 20 253:2 / "+kubelet+"/pods/"+podUID+"/volumes/kubernetes.io~csi/pvc-1b/mount rw - xfs x rw",
		"25 20 253:2 /part /mnt/back\\040up rw shared:6 - xfs x rw",
	)
	want := []Mark{{
		Code: MarkTwin, Path: "/mnt/back up", Backing: backing1(),
		Why:      "csi volume pvc-1 of container main of pod prod/db-0 is mounted here as well, at a place that is not the kubelet's for it",
		Evidence: []string{`25 20 253:2 /part /mnt/back\040up rw shared:6 - xfs x`},
	}}
	if diff := cmp.Diff(want, surveyOf(m, nil).Marks); diff != "" {
		t.Errorf("marks (-want +got):\n%s", diff)
	}
	// A local volume has one place of the node's own.
	local := volumesOfPod + "/kubernetes.io~local-volume/disk"
	m = cleanNode(t)
	m.tasks[bundleDir("k8s.io", "c1")].spec.Mounts[0].Source = local
	m.mounts[local] = m.mounts[csiTarget]
	m.host = []string{"20 1 8:1 / / rw - ext4 x rw", "22 20 253:2 / " + local + " rw - xfs x rw", "23 20 253:2 / /mnt/disks/1 rw - xfs x rw"}
	if marks := marksOf(surveyOf(m, nil), MarkTwin); len(marks) != 0 {
		t.Errorf("a local volume: %+v", marks)
	}
	m.host = append(m.host, "24 20 253:2 / /mnt/disks/2 rw - xfs x rw")
	if marks := marksOf(surveyOf(m, nil), MarkTwin); len(marks) != 1 || len(marks[0].Evidence) != 2 {
		t.Errorf("a local volume at a second place: %+v", marks)
	}
}

// TestEvidenceCannotBeForged: a path is one word on one line.
func TestEvidenceCannotBeForged(t *testing.T) {
	got := line(hostview.Entry{ID: 1, Parent: 2, Device: number(8, 1), Root: "/\x1b[2J", MountPoint: "/a b\nc\\d", Options: "rw", FSType: "ext4", Source: "x\ty", State: facts.MountState{Peer: 3, Master: 4}})
	if want := `1 2 8:1 /\033[2J /a\040b\012c\134d rw shared:3 master:4 - ext4 x\011y`; got != want {
		t.Errorf("line %q, want %q", got, want)
	}
}
