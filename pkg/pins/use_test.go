package pins

import (
	"slices"
	"strings"
	"testing"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/namespaces"
)

func agent() namespaces.Process { return namespaces.Process{PID: 900, Comm: "agent"} }

// TestWhatIsPinnedCanBeUnknown: a mount of a pod that may be there, and a file
// system that is alive and that nothing was found of.
func TestWhatIsPinnedCanBeUnknown(t *testing.T) {
	f := newFixture(t)
	f.lv()
	left := "/var/lib/kubelet/pods/" + deadPod + "/volume-subpaths/v/c/0"
	f.tables[home][0] += "\n30 22 253:7 /sub " + left + " rw shared:9 - xfs /dev/vg0/pvc-1 rw"
	for why, want := range map[string]struct {
		use     string
		pinned  facts.Truth
		unknown int
	}{"": {UseLeftover, facts.Yes, 0}, "no state directory": {UseUnclear, facts.Unknown, 1}} {
		f.tasksWhy = why
		r := f.find("vg0/pvc-1")
		if h := r.Holders[0]; h.Use != want.use || r.Pinned() != want.pinned || len(r.Unknown) != want.unknown {
			t.Errorf("%q: use %s, pinned %v, unknown %v", why, h.Use, r.Pinned(), r.Unknown)
		}
	}
	f = newFixture(t)
	f.lv()
	if r := f.find("vg0/pvc-1"); r.Pinned() != facts.No {
		t.Errorf("nothing: pinned %v", r.Pinned())
	}
	f.file("sys/fs/xfs/dm-7/x", "")
	if r := f.find("vg0/pvc-1"); r.Pinned() != facts.Unknown || r.Answer() != facts.Unknown {
		t.Errorf("alive: pinned %v, answer %v", r.Pinned(), r.Answer())
	}
}

// TestARunningContainersRootFilesystemIsItsUse: in the container and where the
// runtime has it; of one that has ended it is not, and no umount is offered for
// what is used.
func TestARunningContainersRootFilesystemIsItsUse(t *testing.T) {
	task := container("abc", "app", "prod", "web", livePod)
	task.PID = 800
	const upper = " - overlay overlay rw,lowerdir=/l,upperdir=/u,workdir=/w"
	f := newFixture(t)
	f.tables[home][0] += "\n40 22 0:61 / " + task.Bundle.Rootfs() + " rw shared:5" + upper
	f.namespace(4026532700, namespaces.Process{PID: 800, Comm: "app", Owner: namespaces.Owner{Task: task, ContainerID: "abc"}}, "700 1 0:61 / / rw master:5"+upper)
	f.link(800, "cwd", "/", Stat{Device: facts.DeviceNumber{Minor: 61}, MountID: 700})
	f.file("proc/800/maps", "7f00000-7f01000 r-xp 00000000 00:3d 12 /bin/app\n")
	f.stats[f.dir+"/proc/800/map_files/7f00000-7f01000"] = Stat{Device: facts.DeviceNumber{Minor: 61}, MountID: 700}
	f.tasks = []namespaces.Task{*task}
	r := f.find("0:61")
	wantHolders(t, r, "mount host 0 the root filesystem of a container that runs", "mount container 800 the container's own root filesystem", "cwd container 800")
	for _, h := range r.Holders {
		if !h.User || slices.ContainsFunc(commands(h), func(c string) bool { return strings.Contains(c, "umount") }) {
			t.Errorf("%s: user %t, cures %q", h.Why, h.User, commands(h))
		}
	}
	if r.Pinned() != facts.No {
		t.Errorf("pinned %v", r.Pinned())
	}
	f.tasks[0].PID = 0
	if h := f.find("0:61").Holders[0]; h.User || h.Use != UseHost {
		t.Errorf("of a container that has ended: %+v", h)
	}
}

// TestADirectoryMeansWhatIsMountedBelowIt, and not what is beside it.
func TestADirectoryMeansWhatIsMountedBelowIt(t *testing.T) {
	f := newFixture(t)
	f.lv()
	f.tables[home][0] += "\n30 22 253:7 / /d/m rw shared:8 - xfs x rw\n31 22 0:50 / /dd rw - tmpfs t rw"
	f.namespace(4026532701, agent(), "851 1 8:1 / /rootfs rw - ext4 x rw\n903 851 253:7 / /rootfs/d/m rw - xfs x rw\n904 851 0:50 / /rootfs/dd rw - tmpfs t rw")
	for _, dir := range []string{"/d", "/e"} {
		f.host.at[dir] = facts.HostMount{MountPoint: "/", Device: facts.DeviceNumber{Major: 8, Minor: 1}, Root: "/", FSType: "ext4"}
	}
	r := f.find("/d")
	wantHolders(t, r, "mount host 0", "mount other 900")
	if len(r.Notes) != 1 || !strings.HasPrefix(r.Notes[0], "1 mount lies below /d") || !r.Target.Superblocks[1].Below {
		t.Errorf("notes %q, %+v", r.Notes, r.Target.Superblocks)
	}
	if r := f.find("/e"); len(r.Holders) != 0 || len(r.Notes) != 0 || r.Answer() != facts.No {
		t.Errorf("%q, notes %q, answer %v, alive %v, suspects %q, unknown %v", told(r), r.Notes, r.Answer(), r.Alive, r.Suspects, r.Unknown)
	}
}

// TestAnOverlayThatCannotBeProvedIsASuspect: of a kernel without handles, by a
// path that leads to the volume now, and by a lower layer; on what is not alive
// it is none.
func TestAnOverlayThatCannotBeProvedIsASuspect(t *testing.T) {
	for name, options := range map[string]string{
		"its upper layer": "lowerdir=/l,upperdir=/mnt/up,workdir=/mnt/work", "a lower layer": "lowerdir=/mnt/up",
	} {
		f := newFixture(t)
		f.lv()
		f.tables[home][0] += "\n40 22 0:61 / /over rw - overlay o rw," + options
		at := facts.HostMount{MountPoint: "/mnt", Device: facts.DeviceNumber{Major: 253, Minor: 7}, Root: "/", FSType: "xfs"}
		f.host.at["/mnt/up"] = at
		f.host.at["/over"] = facts.HostMount{MountPoint: "/over", Device: facts.DeviceNumber{Minor: 61}, Root: "/", FSType: "overlay"}
		if r := f.find("vg0/pvc-1"); r.Answer() != facts.No || len(r.Suspects) != 0 {
			t.Errorf("%s, not alive: answer %v, suspects %q", name, r.Answer(), r.Suspects)
		}
		f.file("sys/fs/xfs/dm-7/x", "")
		r := f.find("vg0/pvc-1")
		wantHolders(t, r)
		if r.Answer() != facts.Unknown || !strings.HasPrefix(r.Suspects[0], "overlay 0:61 at /over of mnt:[4026531841]: whether its layer /mnt/up is on it cannot be told") {
			t.Errorf("%s: answer %v, suspects %q", name, r.Answer(), r.Suspects)
		}
	}
}
