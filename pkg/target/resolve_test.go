package target

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/volumes"
)

const (
	rootLine = "22 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n"
	fsid     = "00000000-0000-0000-0000-000000000001"
	podUID   = "11111111-2222-3333-4444-555555555555"
)

func resolve(t *testing.T, f *fixture, arg string) Target {
	t.Helper()
	all, err := Resolve(t.Context(), f.node(), arg)
	if err != nil || len(all) != 1 {
		t.Fatalf("%s: %+v, %v", arg, all, err)
	}
	return all[0]
}

// TestAVolumeMeansWhatIsStackedOnIt, whatever it is called.
func TestAVolumeMeansWhatIsStackedOnIt(t *testing.T) {
	f := newFixture(t, rootLine+"30 22 253:1 / /data rw - xfs /dev/x rw\n31 22 7:0 / /img rw - ext4 /dev/loop0 rw\n")
	f.host.at["/dev/vg0/b"] = facts.HostMount{Canonical: "/dev/dm-2", MountPoint: "/dev", FSType: "devtmpfs"}
	f.host.blocks["/dev/vg0/b"] = number(253, 2)
	for arg, kind := range map[string]string{"vg0/b": KindLV, "253:2": KindDevice, "/dev/vg0/b": KindDevice, "/dev/mapper/vg0-b": KindDevice, "/dev/dm-2": KindDevice} {
		got := resolve(t, f, arg)
		want := []Superblock{
			{Device: number(253, 2), Name: "dm-2", LV: "vg0/b"},
			{Device: number(7, 0), Name: "loop0", LV: "vg0/b", FSType: "ext4", Foreign: true},
			{Device: number(253, 5), Name: "dm-5", LV: "vg0/b", Foreign: true},
		}
		if diff := cmp.Diff(want, got.Superblocks); diff != "" || got.Kind != kind || got.Block != number(253, 2) || len(got.Blocks) != 3 || got.Why != "" {
			t.Errorf("%s: %+v (-want +got):\n%s", arg, got, diff)
		}
	}
	if got := resolve(t, f, "vg0/a"); len(got.Superblocks) != 1 || got.Superblocks[0].FSType != "xfs" {
		t.Errorf("vg0/a: %+v", got)
	}
	if got := resolve(t, f, "8:0"); len(got.Blocks) != 6 {
		t.Errorf("the disk means %v", got.Blocks)
	}
}

// TestAnEmptyLoopDeviceIsNoUnknown, and one that does not answer is.
func TestAnEmptyLoopDeviceIsNoUnknown(t *testing.T) {
	f := newFixture(t, rootLine)
	s, err := ReadStack(f.sys, f.node().Devices)
	if err != nil || len(s.Unknown) != 0 {
		t.Errorf("unknown %q, %v", s.Unknown, err)
	}
	delete(f.loops, "loop0")
	s, err = ReadStack(f.sys, f.node().Devices)
	if err != nil || len(s.Unknown) != 1 || !strings.Contains(s.Unknown[0], "loop0") {
		t.Errorf("unknown %q, %v", s.Unknown, err)
	}
	var direct []string
	for _, l := range s.Directly(number(8, 1)) {
		direct = append(direct, l.Name)
	}
	if diff := cmp.Diff([]string{"dm-1", "dm-2"}, direct); diff != "" {
		t.Errorf("directly on sda1 (-want +got):\n%s", diff)
	}
}

// A loop device over a file in memory is on no device, which the host's table
// tells; of one on a number that it does not have, it cannot be told.
func TestALoopDeviceInMemoryIsOnNoDevice(t *testing.T) {
	f := newFixture(t, rootLine+"40 1 0:79 / /x rw - tmpfs tmpfs rw\n")
	for minor, want := range map[uint32]string{79: "no", 80: "unknown"} {
		f.loops["loop0"] = device.LoopStatus{File: number(0, minor)}
		all, err := Resolve(t.Context(), f.node(), "7:0")
		if err != nil || all[0].Chain.Answer().Truth.String() != want {
			t.Errorf("on 0:%d: %+v, %v; want %s", minor, all, err, want)
		}
		s, err := ReadStack(f.sys, f.node().Devices)
		if err != nil || len(s.Unknown) != 0 || len(s.Loops) != 1 || s.Loops[0].File != number(0, minor) {
			t.Errorf("on 0:%d: unknown %q, loops %+v, %v", minor, s.Unknown, s.Loops, err)
		}
	}
}

// TestADeviceThatIsGone can be asked about by its number, and by nothing else.
func TestADeviceThatIsGone(t *testing.T) {
	f := newFixture(t, rootLine)
	got := resolve(t, f, "253:9")
	if got.Block != number(253, 9) || len(got.Superblocks) != 1 || len(got.Notes) != 1 {
		t.Errorf("%+v", got)
	}
	got = resolve(t, f, "0:77")
	if got.Kind != KindAnonymous || len(got.Superblocks) != 1 || len(got.Notes) != 1 {
		t.Errorf("%+v", got)
	}
	for _, arg := range []string{"/dev/vg0/none", "/none", "vg0/none", "none", "", "0:0"} {
		if _, err := Resolve(t.Context(), f.node(), arg); !errors.Is(err, ErrNone) || strings.Contains(err.Error(), "cannot tell") {
			t.Errorf("%q: %v", arg, err)
		}
	}
}

// TestAPathMeansItsPart of a superblock; a mount point the whole mount.
func TestAPathMeansItsPart(t *testing.T) {
	f := newFixture(t, rootLine+"30 22 253:1 /v /data rw - xfs x rw\n")
	m := facts.HostMount{Canonical: "/data/sub", MountPoint: "/data", Device: number(253, 1), Root: "/v", FSType: "xfs"}
	f.host.at["/link"] = m
	got := resolve(t, f, "/link")
	want := []Superblock{{Device: number(253, 1), FSType: "xfs", Root: "/v/sub", Name: "dm-1", LV: "vg0/a", Mounted: "/data"}}
	if diff := cmp.Diff(want, got.Superblocks); diff != "" || got.Path != "/data/sub" || got.Chain == nil {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// One that does not answer, by the table; below it that cannot be told.
	f.host.hung = "/data"
	if got := resolve(t, f, "/data"); got.Superblocks[0].Root != "/v" || len(got.Notes) != 1 {
		t.Errorf("%+v", got)
	}
	f.host.hung = "/data/x"
	if _, err := Resolve(t.Context(), f.node(), "/data/x"); err == nil || errors.Is(err, ErrNone) {
		t.Errorf("a path that does not answer: %v", err)
	}
}

func TestANamespacesFile(t *testing.T) {
	f := newFixture(t, rootLine)
	f.host.at["/run/netns/x"] = facts.HostMount{Canonical: "/run/netns/x", MountPoint: "/run/netns/x", Root: "net:[4026532177]", FSType: "nsfs", Device: number(0, 4)}
	link(t, filepath.Join(f.proc, "7/ns/net"), "net:[4026532177]")
	for _, arg := range []string{"/run/netns/x", "/proc/7/ns/net"} {
		got := resolve(t, f, arg)
		if got.NS != "net:[4026532177]" || got.Kind != KindNamespace || len(got.Superblocks) != 1 || got.Superblocks[0].Root != got.NS {
			t.Errorf("%s: %+v", arg, got)
		}
	}
	if _, err := Resolve(t.Context(), f.node(), "/proc/8/ns/net"); !errors.Is(err, ErrNone) {
		t.Errorf("a process that is gone: %v", err)
	}
}

// TestBtrfsIsFoundByItsDevices, where the host has it mounted with its number.
func TestBtrfsIsFoundByItsDevices(t *testing.T) {
	f := newFixture(t, rootLine+"30 22 0:50 /sv /data rw - btrfs /dev/x rw\n31 22 0:51 / /other rw - btrfs /dev/y rw\n")
	link(t, filepath.Join(f.sys, "fs/btrfs", fsid, "devices/dm-1"), "../../../../devices/dm-1")
	f.host.pools["/data"], f.host.pools["/other"] = fsid, strings.Replace(fsid, "1", "2", 1)
	got := resolve(t, f, "vg0/a")
	if want := (Superblock{Device: number(0, 50), FSType: "btrfs", BtrfsID: fsid}); len(got.Superblocks) != 2 || got.Superblocks[1] != want || got.Why != "" {
		t.Errorf("%+v, want %+v", got.Superblocks, want)
	}
	delete(f.host.pools, "/data")
	got = resolve(t, f, "vg0/a")
	if want := (Superblock{FSType: "btrfs", BtrfsID: fsid}); len(got.Superblocks) != 2 || got.Superblocks[1] != want || !strings.Contains(got.Why, "0:50") {
		t.Errorf("%+v, why %q", got.Superblocks, got.Why)
	}
}

func pod() *volumes.Survey {
	member := func(id, name string) volumes.Member {
		return volumes.Member{
			Container: facts.Container{ID: id, Name: name, Pod: facts.Pod{Namespace: "prod", Name: "web-0", UID: podUID}},
			Identity:  facts.Is(true, ""),
			Task: volumes.Task{
				Rootfs: volumes.Rootfs{FSType: "overlay", Superblock: number(0, 60), Path: "/run/" + id},
				Mounts: []volumes.Mount{
					{Destination: "/data", Kind: "csi", Volume: "v", FSType: "xfs", Root: "/", Backing: volumes.Backing{Device: number(253, 1)}},
					{Destination: "/host", Source: "/etc", Kind: volumes.KindHostPath, FSType: "ext4", Backing: volumes.Backing{Device: number(8, 1)}},
					{Destination: "/etc/hosts", Kind: volumes.KindKubelet, FSType: "ext4", Backing: volumes.Backing{Device: number(8, 1)}},
				},
				Raw: []volumes.Raw{{Path: "/dev/b", Volume: "raw", Backing: volumes.Backing{Device: number(253, 2)}}},
			},
		}
	}
	return &volumes.Survey{Members: []volumes.Member{member("aaaa", "app"), member("bbbb", "side")}}
}

// TestAPodMeansItsVolumes, each once, and not the host's paths.
func TestAPodMeansItsVolumes(t *testing.T) {
	f := newFixture(t, rootLine)
	f.survey = pod()
	for arg, want := range map[string]Target{
		"web-0":      {Kind: KindPod, Name: "prod/web-0"},
		"prod/web-0": {Kind: KindPod, Name: "prod/web-0"},
		podUID:       {Kind: KindPod, Name: "prod/web-0"},
		"side":       {Kind: KindContainer, Name: "prod/web-0/side"},
		"aa":         {Kind: KindContainer, Name: "prod/web-0/app"},
	} {
		got := resolve(t, f, arg)
		var devices []string
		for _, s := range got.Superblocks {
			devices = append(devices, s.Device.String())
		}
		if got.Kind != want.Kind || got.Name != want.Name || strings.Join(devices, " ") != "0:60 253:1 253:2" || len(got.Blocks) != 1 || len(got.Notes) != 1 {
			t.Errorf("%s: %+v", arg, got)
		}
	}
}

// TestALogicalVolumeWinsOverAPod of the same name, and where there is none the
// error says that both were looked for.
func TestALogicalVolumeWinsOverAPod(t *testing.T) {
	f := newFixture(t, rootLine)
	f.survey = pod()
	f.survey.Members[0].Container.Pod = facts.Pod{Namespace: "vg0", Name: "a"}
	if got := resolve(t, f, "vg0/a"); got.Kind != KindLV {
		t.Errorf("%+v", got)
	}
	if _, err := Resolve(t.Context(), f.node(), "vg0/none"); err == nil || !strings.Contains(err.Error(), "no container or pod") || !strings.Contains(err.Error(), "not active") {
		t.Errorf("%v", err)
	}
	f.survey.Unknown = []volumes.Unknown{{What: "container x", Why: "half-written"}}
	if _, err := Resolve(t.Context(), f.node(), "none"); err == nil || errors.Is(err, ErrNone) {
		t.Errorf("not all containers are known: %v", err)
	}
}

// TestAPodThatIsGone is found by the mounts it left behind.
func TestAPodThatIsGone(t *testing.T) {
	f := newFixture(t, rootLine+"30 22 253:1 / /var/lib/kubelet/pods/"+podUID+"/volumes/kubernetes.io~csi/v/mount rw - xfs x rw\n")
	got := resolve(t, f, podUID)
	if got.Kind != KindPod || len(got.Superblocks) != 1 || got.Superblocks[0].LV != "vg0/a" {
		t.Errorf("%+v", got)
	}
}

func TestAllLogicalVolumes(t *testing.T) {
	f := newFixture(t, rootLine)
	all, err := LVs(t.Context(), f.node())
	var names []string
	for _, t := range all {
		names = append(names, t.Name)
	}
	if diff := cmp.Diff([]string{"vg0/a", "vg0/b"}, names); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// TestWhatAMountShows: Shows counts what a directory above shows, Holds does
// not, and neither another superblock or a name that only begins alike.
func TestWhatAMountShows(t *testing.T) {
	s := Superblock{Device: number(8, 1), Root: "/a/b"}
	for root, want := range map[string][2]bool{
		"/": {true, false}, "/a": {true, false}, "/a/b": {true, true}, "/a/b/c": {true, true}, "/a/bc": {false, false}, "/x": {false, false}, "/a/b//deleted": {true, true},
	} {
		at := facts.Identity{Device: s.Device, Root: root}
		if got := [2]bool{s.Shows(at), s.Holds(at)}; got != want {
			t.Errorf("%s: %v, want %v", root, got, want)
		}
		at.Device.Minor = 2
		if s.Shows(at) || s.Holds(at) {
			t.Errorf("%s of another superblock", root)
		}
	}
}

// FuzzResolve: no name makes it crash, and what is found is named.
func FuzzResolve(f *testing.F) {
	for _, s := range []string{"vg0/a", "8:0", "/x", "/dev/../dev/dm-1", "/proc/1/ns/net", "..", "a\nb", ":", "//", "/dev/mapper/"} {
		f.Add(s)
	}
	node := newFixture(f, rootLine).node()
	f.Fuzz(func(t *testing.T, arg string) {
		all, err := Resolve(t.Context(), node, arg)
		if (err == nil) != (len(all) > 0) {
			t.Errorf("%q: %v and %v", arg, all, err)
		}
		for _, got := range all {
			if got.Kind == "" || len(got.Superblocks) == 0 {
				t.Errorf("%q: %+v", arg, got)
			}
		}
	})
}
