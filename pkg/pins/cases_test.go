package pins

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/namespaces"
)

const (
	deadPod = "11111111-2222-3333-4444-555555555555"
	livePod = "99999999-2222-3333-4444-555555555555"
	volume  = "/var/lib/kubelet/pods/" + deadPod + "/volumes/kubernetes.io~csi/pvc-x/mount"
	root    = "850 1 0:60 / / rw - overlay overlay rw\n851 850 8:1 / /rootfs ro - ext4 /dev/sda1 rw\n"
)

func hasCure(t *testing.T, h Holder, want string) {
	t.Helper()
	var all []string
	for _, c := range h.Cures {
		all = append(all, c.Commands...)
	}
	if !slices.Contains(all, want) {
		t.Errorf("no cure %q in %q", want, all)
	}
}

// google/cadvisor 3780: an agent with the host's root, private, keeps a volume
// that the kubelet has unmounted and removed the pod of.
func TestCadvisorPinsAVolume(t *testing.T) {
	f := newFixture(t)
	f.lv()
	f.opens = 1
	task := container("c0ffee", "cadvisor", "kube-system", "cadvisor-abc", "u")
	f.namespace(4026532701, namespaces.Process{PID: 900, Comm: "cadvisor", Owner: namespaces.Owner{Task: task, ContainerID: "c0ffee"}},
		root+"903 851 253:7 / /rootfs"+volume+" rw,relatime - xfs /dev/topolvm/uuid rw")
	r := f.find("vg0/pvc-1")
	wantHolders(t, r, "mount container 900 a private copy")
	h := r.Holders[0]
	if h.Name() != "container cadvisor of pod kube-system/cadvisor-abc" || h.Mounts[0].HostPath != volume || h.Mounts[0].PodUID != deadPod || !h.Mounts[0].PodGone {
		t.Errorf("%s: %+v", h.Name(), h.Mounts[0])
	}
	if want := "903 851 253:7 / /rootfs" + volume + " rw,relatime - xfs /dev/topolvm/uuid rw"; h.Evidence[0].Text != want {
		t.Errorf("evidence %q", h.Evidence)
	}
	hasCure(t, h, "umount -N /proc/900/ns/mnt /rootfs"+volume)
	hasCure(t, h, "rmdir "+volume)
	hasCure(t, h, "crictl stop c0ffee")
	hasCure(t, h, "kubectl delete pod -n kube-system cadvisor-abc")
	if r.Open == nil || r.Open.Count != 1 || r.Open.Explained != 1 || r.Pinned() != facts.Yes || r.Answer() != facts.Yes || len(r.Suspects) != 0 {
		t.Errorf("open %+v, pinned %v, suspects %q", r.Open, r.Pinned(), r.Suspects)
	}
}

// moby 22260: a service with its own namespace keeps a copy.
func TestUdevdKeepsAMount(t *testing.T) {
	f := newFixture(t)
	f.lv()
	f.namespace(4026532200, namespaces.Process{PID: 300, Comm: "systemd-udevd", Owner: namespaces.Owner{Unit: "systemd-udevd.service"}},
		"500 1 8:1 / / rw master:1 - ext4 /dev/sda1 rw\n501 500 253:7 / "+volume+" rw - xfs /dev/vg0/pvc-1 rw")
	r := f.find("253:7")
	wantHolders(t, r, "mount other 300 a private copy")
	if h := r.Holders[0]; h.Owner.Unit != "systemd-udevd.service" || h.Name() != "systemd-udevd.service" {
		t.Errorf("%+v", h.Owner)
	}
	hasCure(t, r.Holders[0], "systemctl restart systemd-udevd.service")
}

// containerd 3667: a network namespace's file is pinned by a copy.
func TestANetworkNamespaceIsPinned(t *testing.T) {
	f := newFixture(t)
	task := container("abc", "exporter", "mon", "exporter-1", "u")
	f.host.at["/run/netns/cni-1"] = facts.HostMount{MountPoint: "/run/netns/cni-1", Root: "net:[4026532777]", FSType: "nsfs", Device: facts.DeviceNumber{Minor: 4}}
	f.namespace(4026532701, namespaces.Process{PID: 900, Comm: "exporter", Owner: namespaces.Owner{Task: task, ContainerID: "abc"}},
		root+"1155 851 0:4 net:[4026532777] /rootfs/run/netns/cni-1 rw - nsfs nsfs rw\n1156 851 0:4 net:[4026532778] /rootfs/run/netns/cni-2 rw - nsfs nsfs rw")
	r := f.find("/run/netns/cni-1")
	wantHolders(t, r, "namespace-file container 900")
	if m := r.Holders[0].Mounts; len(m) != 1 || m[0].ID != 1155 {
		t.Errorf("%+v", m)
	}
	hasCure(t, r.Holders[0], "umount -N /proc/900/ns/mnt /rootfs/run/netns/cni-1")
}

// prometheus-operator 2578: one process pins much of many pods that are gone.
func TestOneProcessPinsManyPods(t *testing.T) {
	f := newFixture(t)
	task := container("abc", "node-exporter", "mon", "node-exporter-1", "u")
	var table strings.Builder
	table.WriteString(root)
	for i := range 41 {
		fmt.Fprintf(&table, "%d 851 0:900 / /rootfs/var/lib/kubelet/pods/00000000-0000-0000-0000-0000000000%02d/volumes/kubernetes.io~secret/token-%d rw - tmpfs tmpfs rw\n", 2000+i, i%12, i)
	}
	f.namespace(4026532701, namespaces.Process{PID: 900, Comm: "node_exporter", Owner: namespaces.Owner{Task: task, ContainerID: "abc"}}, table.String())
	r := f.find("0:900")
	groups := Groups([]Report{r})
	if len(groups) != 1 || groups[0].String() != "container node-exporter of pod mon/node-exporter-1 pins 41 mounts of 12 dead pods" {
		t.Errorf("%v", groups)
	}
}

// lxd 5806: a volume that only another service's namespace has.
func TestAVolumeThatTheHostNeverHad(t *testing.T) {
	f := newFixture(t)
	f.lv()
	f.namespace(4026532300, namespaces.Process{PID: 400, Comm: "lxd", Owner: namespaces.Owner{Unit: "snap.lxd.daemon.service"}},
		"600 1 7:4 / / ro - squashfs /dev/loop4 ro\n601 600 0:70 / /var/snap/lxd/common rw - tmpfs tmpfs rw\n602 601 253:7 / /var/snap/lxd/common/pool/c1 rw - ext4 /dev/vg0/c1 rw")
	r := f.find("vg0/pvc-1")
	wantHolders(t, r, "mount other 400 a private copy: it stays, and the host has no mount of it")
}

// lvm2 49: busy and no namespace has it. No culprit is made up.
func TestABusyVolumeThatNothingHolds(t *testing.T) {
	f := newFixture(t)
	f.lv()
	f.opens = 1
	f.host.files["/etc/fstab"] = "# x\n/dev/sda1 / ext4 defaults 0 1\n/dev/vg0/pvc-1  /data xfs defaults 0 0\n"
	r := f.find("vg0/pvc-1")
	wantHolders(t, r)
	text := strings.Join(r.Suspects, "\n")
	for _, want := range []string{"open 1 times, of which 0", "/dev/vg0/pvc-1 /data xfs", "io_uring"} {
		if !strings.Contains(text, want) {
			t.Errorf("no suspect with %q in\n%s", want, text)
		}
	}
	if r.Answer() != facts.Unknown || len(r.Searched) < 6 {
		t.Errorf("answer %v, searched %q", r.Answer(), r.Searched)
	}
	f.opens = 0
	if r := f.find("vg0/pvc-1"); r.Answer() != facts.No || len(r.Suspects) != 0 {
		t.Errorf("not open: answer %v, suspects %q", r.Answer(), r.Suspects)
	}
}

// longhorn 1210: multipath has taken the disk.
func TestMultipathHoldsADisk(t *testing.T) {
	f := newFixture(t)
	f.block("8:80", "sdf", nil)
	f.block("253:1", "dm-1", map[string]string{"dm/name": "mpatha", "dm/uuid": "mpath-3600"}, "sdf")
	r := f.find("8:80")
	wantHolders(t, r, "dm-holder kernel 0 the device dm-1 (mpatha) of the device mapper is built on it: multipathd")
	hasCure(t, r.Holders[0], "multipath -f mpatha")
}

// Before Linux 6.10 a swap area is two openings of its device.
func TestASwapAreaExplainsItsOpenings(t *testing.T) {
	for release, opens := range map[string]int{"6.1.0-57-cloud-amd64": 2, "6.9.12": 2, "5.14.0-503.el9": 2, "6.10.0": 1, "6.12.118+deb13": 1, "7.0": 1, "?": 1} {
		f := newFixture(t)
		f.lv()
		f.file("proc/sys/kernel/osrelease", release+"\n")
		f.file("proc/swaps", "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n/dev/dm-7                               partition\t1\t0\t-2\n")
		f.host.at["/dev/dm-7"] = facts.HostMount{}
		f.host.blocks["/dev/dm-7"] = facts.DeviceNumber{Major: 253, Minor: 7}
		f.opens = 2
		if r := f.find("vg0/pvc-1"); r.Open == nil || r.Open.Explained != opens || (len(r.Suspects) == 0) != (opens == 2) {
			t.Errorf("%s: open %+v, suspects %q; want %d explained", release, r.Open, r.Suspects, opens)
		}
	}
}

// A volume group on a logical volume: LVM finds its volumes only when it is told
// to scan its own.
func TestAGroupOnAVolumeHoldsIt(t *testing.T) {
	f := newFixture(t)
	f.lv()
	f.block("253:8", "dm-8", map[string]string{"dm/name": "vg1-data", "dm/uuid": "LVM-" + strings.Repeat("b", 64)}, "dm-7")
	r := f.find("vg0/pvc-1")
	wantHolders(t, r, "dm-holder kernel 0 the device dm-8 (vg1-data) of the device mapper is built on it")
	hasCure(t, r.Holders[0], "lvchange --config devices/scan_lvs=1 -an vg1/data")

	f.block("8:80", "sdf", nil)
	f.block("253:9", "dm-9", map[string]string{"dm/name": "vg2-data", "dm/uuid": "LVM-" + strings.Repeat("c", 64)}, "sdf")
	hasCure(t, f.find("8:80").Holders[0], "lvchange -an vg2/data")
}

// kubernetes 72257: a subPath that was left behind, on the host.
func TestASubPathLeftBehind(t *testing.T) {
	f := newFixture(t)
	f.lv()
	left := "/var/lib/kubelet/pods/" + deadPod + "/volume-subpaths/v/c/0"
	live := "/var/lib/kubelet/pods/" + livePod + "/volumes/kubernetes.io~csi/pvc-x/mount"
	f.tasks = []namespaces.Task{*container("abc", "app", "prod", "web", livePod)}
	f.tables[home] = []string{"22 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n30 22 253:7 /data/sub " + left + " rw shared:9 - xfs /dev/vg0/pvc-1 rw\n31 22 253:7 / " + live + " rw shared:8 - xfs /dev/vg0/pvc-1 rw"}
	r := f.find("vg0/pvc-1")
	wantHolders(t, r, "mount host 0 a subPath that was left behind in the directory of pod "+deadPod, "mount host 0 the kubelet's mount for a pod that is there")
	if h := r.Holders; h[0].Use != UseLeftover || h[0].User || h[1].Use != UseOwn || !h[1].User || r.Pinned() == facts.Yes {
		t.Errorf("%+v", h)
	}
	hasCure(t, r.Holders[0], "umount "+left)
}

// TestAPodsOwnVolumeIsItsUse, in the container and on the host, and a copy of
// it in an agent is not.
func TestAPodsOwnVolumeIsItsUse(t *testing.T) {
	f := newFixture(t)
	f.lv()
	live := "/var/lib/kubelet/pods/" + livePod + "/volumes/kubernetes.io~csi/pvc-x/mount"
	task := container("abc", "app", "prod", "web", livePod)
	task.Spec.Mounts = []facts.Mount{{Destination: "/data/", Source: live}}
	f.tasks = []namespaces.Task{*task}
	f.tables[home] = []string{"22 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n31 22 253:7 / " + live + " rw shared:8 - xfs /dev/vg0/pvc-1 rw"}
	f.namespace(4026532700, namespaces.Process{PID: 800, Comm: "app", Owner: namespaces.Owner{Task: task, ContainerID: "abc"}},
		"700 1 0:61 / / rw - overlay overlay rw\n701 700 253:7 / /data rw master:8 - xfs /dev/vg0/pvc-1 rw")
	f.link(800, "fd/3", "/data/file", Stat{Device: facts.DeviceNumber{Major: 253, Minor: 7}, MountID: 701})
	agent := container("def", "agent", "kube-system", "agent", "u")
	f.namespace(4026532701, namespaces.Process{PID: 900, Comm: "agent", Owner: namespaces.Owner{Task: agent, ContainerID: "def"}},
		strings.Replace(root, " ro - ", " ro master:1 - ", 1)+"903 851 253:7 / /rootfs"+live+" rw master:8 - xfs /dev/vg0/pvc-1 rw")
	f.link(900, "fd/3", "/rootfs"+live+"/log", Stat{Device: facts.DeviceNumber{Major: 253, Minor: 7}, MountID: 903})
	r := f.find("vg0/pvc-1")
	wantHolders(t, r, "mount host 0 the kubelet's", "mount container 800 the pod's own volume", "mount container 900 a slave copy",
		"open-file container 800", "open-file container 900 the open file /rootfs"+live+"/log is on a copy that goes with the host's mount: the host's unmount is refused")
	var users []bool
	for _, h := range r.Holders {
		users = append(users, h.User)
	}
	if want := []bool{true, true, false, true, false}; !slices.Equal(users, want) || r.Pinned() == facts.Yes {
		t.Errorf("users %v, want %v; pinned %v", users, want, r.Pinned())
	}
}

// TestALineThatATornReadDropped is found by the second reading.
func TestALineThatATornReadDropped(t *testing.T) {
	f := newFixture(t)
	f.lv()
	f.namespace(4026532701, namespaces.Process{PID: 900, Comm: "agent"}, "")
	f.tables[4026532701] = []string{root, root + "903 851 253:7 / /rootfs" + volume + " rw - xfs x rw"}
	wantHolders(t, f.find("vg0/pvc-1"), "mount other 900 a private copy")
}

// TestWhatCannotBeReadIsNoNo: neither a table nor a process.
func TestWhatCannotBeReadIsNoNo(t *testing.T) {
	f := newFixture(t)
	f.lv()
	f.namespace(4026532701, namespaces.Process{PID: 900, Comm: "agent"}, root)
	f.unreadable[4026532701] = &hostview.CannotTell{Path: "process 900", Why: "permission denied", Err: fs.ErrPermission}
	r := f.find("vg0/pvc-1")
	if r.Answer() != facts.Unknown || len(r.Unknown) != 1 || r.Unknown[0].Why == "" {
		t.Errorf("answer %v, unknown %v", r.Answer(), r.Unknown)
	}
	f.unreadable[4026532701] = fmt.Errorf("read: %w", namespaces.ErrGone)
	if r := f.find("vg0/pvc-1"); r.Answer() != facts.No || len(r.Unknown) != 0 {
		t.Errorf("a namespace that has ended: answer %v, unknown %v", r.Answer(), r.Unknown)
	}
}

// TestSwapAndExportsAreHolders, by their device or the file system they are on.
func TestSwapAndExportsAreHolders(t *testing.T) {
	f := newFixture(t)
	f.lv()
	f.file("proc/swaps", "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n/dev/dm-7                               partition\t1\t0\t-2\n/mnt/swap\\040file                       file\t1\t0\t-3\n")
	f.file("proc/fs/nfsd/exports", "# Version 1.1\n# Path Client(Flags) # IPs\n/mnt\t*(ro,sync)\n/srv\t10.0.0.1(ro)\n")
	here := facts.HostMount{MountPoint: "/mnt", Device: facts.DeviceNumber{Major: 253, Minor: 7}, Root: "/"}
	f.host.at["/dev/dm-7"] = facts.HostMount{MountPoint: "/dev", Device: facts.DeviceNumber{Minor: 6}, Root: "/"}
	f.host.blocks["/dev/dm-7"] = here.Device
	f.host.at["/mnt/swap file"], f.host.at["/mnt"] = here, here
	f.host.at["/srv"] = facts.HostMount{MountPoint: "/", Device: facts.DeviceNumber{Major: 8, Minor: 1}, Root: "/"}
	r := f.find("vg0/pvc-1")
	wantHolders(t, r, "swap kernel 0", "swap kernel 0", "nfs-export kernel 0")
	hasCure(t, r.Holders[0], "swapoff /dev/dm-7")
	hasCure(t, r.Holders[1], "swapoff '/mnt/swap file'")
}

// TestAPathMeansItsPartOnly: of files it is told by their place in the mount,
// and a hidden one cannot be.
func TestAPathMeansItsPartOnly(t *testing.T) {
	f := newFixture(t)
	f.tables[home] = []string{"22 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n30 22 8:2 /v /mnt rw shared:9 - xfs /dev/sdb rw"}
	f.host.at["/mnt/data"] = facts.HostMount{Canonical: "/mnt/data", MountPoint: "/mnt", Device: facts.DeviceNumber{Major: 8, Minor: 2}, Root: "/v", FSType: "xfs"}
	st := Stat{Device: facts.DeviceNumber{Major: 8, Minor: 2}, MountID: 30}
	f.link(1, "fd/3", "/mnt/data/x", st)
	f.link(1, "fd/4", "/mnt/other", st)
	f.link(1, "fd/5", "/hidden", Stat{Device: st.Device, MountID: 99})
	r := f.find("/mnt/data")
	wantHolders(t, r, "open-file host 1 the open file /mnt/data/x")
	if len(r.Holders[0].Files) != 1 || len(r.Unknown) != 1 || !strings.Contains(r.Unknown[0].Why, "/hidden") {
		t.Errorf("files %+v, unknown %+v", r.Holders[0].Files, r.Unknown)
	}
}

// TestNoHostsNamespaceIsUnknown: without it nothing is said to be a copy of the
// host's that is not.
func TestNoHostsNamespaceIsUnknown(t *testing.T) {
	f := newFixture(t)
	f.lv()
	f.unreadable[home] = os.ErrPermission
	if r := f.find("253:7"); r.Answer() != facts.Unknown {
		t.Errorf("answer %v, unknown %v", r.Answer(), r.Unknown)
	}
}

// TestOpensAreExplainedOnce: by the file system, by what is built on the device
// and by each descriptor of its node; a file that is open explains none.
func TestOpensAreExplainedOnce(t *testing.T) {
	f := newFixture(t)
	f.lv()
	f.block("253:8", "dm-8", map[string]string{"dm/name": "x", "dm/uuid": "CRYPT-LUKS2-1-x"}, "dm-7")
	f.tables[home] = []string{"22 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n30 22 253:7 / /a rw - xfs x rw\n31 22 253:7 / /b rw - xfs x rw\n32 22 253:8 / /c rw - xfs x rw"}
	dev := facts.DeviceNumber{Major: 253, Minor: 7}
	f.link(1, "fd/3", "/a/x", Stat{Device: dev, MountID: 30})
	f.link(1, "fd/4", "/dev/dm-7", Stat{Device: facts.DeviceNumber{Minor: 6}, Block: dev, MountID: 5})
	f.link(1, "fd/5", "/dev/dm-8", Stat{Device: facts.DeviceNumber{Minor: 6}, Block: facts.DeviceNumber{Major: 253, Minor: 8}, MountID: 5})
	f.opens = 3
	if r := f.find("253:7"); r.Open == nil || r.Open.Explained != 3 || len(r.Suspects) != 0 {
		t.Errorf("%+v, suspects %q, holders %q", r.Open, r.Suspects, told(r))
	}
	f.opens = 4
	if r := f.find("253:7"); len(r.Suspects) != 1 || r.Answer() != facts.Yes {
		t.Errorf("suspects %q", r.Suspects)
	}
}

// TestAPartThatNothingHoldsIsFree, though its file system lives.
func TestAPartThatNothingHoldsIsFree(t *testing.T) {
	f := newFixture(t)
	f.block("8:1", "sda1", nil)
	f.file("sys/fs/ext4/sda1/x", "")
	f.host.at["/quiet"] = facts.HostMount{Canonical: "/quiet", MountPoint: "/", Device: facts.DeviceNumber{Major: 8, Minor: 1}, Root: "/", FSType: "ext4"}
	if r := f.find("/quiet"); r.Answer() != facts.No || len(r.Holders) != 0 || len(r.Suspects) != 0 {
		t.Errorf("answer %v, %q, suspects %q, unknown %v", r.Answer(), told(r), r.Suspects, r.Unknown)
	}
}

// TestWhatIsUsedWithoutAFileSystemIsNotPinned.
func TestWhatIsUsedWithoutAFileSystemIsNotPinned(t *testing.T) {
	for kind, want := range map[Kind]facts.Truth{
		KindSwap: facts.No, KindDM: facts.No, KindOpenDevice: facts.No, KindLoop: facts.Yes, KindOverlay: facts.Yes, KindCwd: facts.Yes,
	} {
		r := Report{Holders: []Holder{{Kind: kind}}}
		if r.Pinned() != want {
			t.Errorf("%s: %v", kind, r.Pinned())
		}
		r.Holders = append(r.Holders, Holder{Kind: KindMount, User: true})
		if r.Pinned() != facts.No {
			t.Errorf("%s of a volume in use is pinned", kind)
		}
	}
}
