package pins

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/linux/linuxtest"
	"github.com/mountward/mountward/pkg/namespaces"
)

// A loop device over a file of a file system with an anonymous number is told
// of where it is on the target, is of no weight where it is proven not to be,
// and is unknown where it can be.
func TestALoopDeviceOnAnAnonymousNumber(t *testing.T) {
	const (
		image  = "/data/image"
		tmpfs  = "30 22 0:79 / /data rw - tmpfs tmpfs rw\n"
		pool   = "31 22 0:40 /@ /data rw - btrfs /dev/vg0/pvc-1 rw\n"
		layers = "32 22 0:50 / /data rw - overlay overlay rw,lowerdir=/l,upperdir=/u,workdir=/w\n"
		zfs    = "33 22 0:60 / /data rw - zfs tank rw\n"
	)
	number := func(minor uint32) facts.DeviceNumber { return facts.DeviceNumber{Minor: minor} }
	on := func(device uint32, fsType string) facts.HostMount {
		return facts.HostMount{MountPoint: "/data", Device: number(device), Root: "/", FSType: fsType}
	}
	for name, test := range map[string]struct {
		target  string
		file    uint32 // st_dev, as the loop device tells it
		table   string // of the host
		other   string // of another mount namespace
		at      facts.HostMount
		number  uint32 // st_dev of the path
		holder  bool
		unknown bool
	}{
		"in memory, for a volume":                     {target: "vg0/pvc-1", file: 79, table: tmpfs},
		"in memory of another mount namespace":        {target: "vg0/pvc-1", file: 79, other: tmpfs},
		"in memory, which was unmounted lazily":       {target: "vg0/pvc-1", file: 79, unknown: true},
		"in memory that is asked about":               {target: "0:79", file: 79, table: tmpfs, holder: true},
		"in other memory than what is asked about":    {target: "0:79", file: 80, table: tmpfs + "34 22 0:80 / /other rw - tmpfs tmpfs rw\n"},
		"in a directory of memory that is asked":      {target: "/data/dir", file: 79, table: tmpfs, at: on(79, "tmpfs"), number: 79},
		"in such a directory, by a path of elsewhere": {target: "/data/dir", file: 79, table: tmpfs, unknown: true},
		"on a subvolume of a btrfs that is asked":     {target: "0:40", file: 41, table: pool, at: on(40, "btrfs"), number: 41, holder: true},
		"on a subvolume of another btrfs":             {target: "vg0/pvc-1", file: 41, table: pool, at: on(40, "btrfs"), number: 41},
		"the path leads to another subvolume":         {target: "vg0/pvc-1", file: 41, table: pool, at: on(40, "btrfs"), number: 42, unknown: true},
		"on an overlay, whose layers are elsewhere":   {target: "vg0/pvc-1", file: 50, table: layers},
		"on a layer of an overlay with a number":      {target: "vg0/pvc-1", file: 51, table: layers, at: on(50, "overlay"), number: 51},
		"on a pool of which nothing is known":         {target: "vg0/pvc-1", file: 60, table: zfs, unknown: true},
		"on nothing that is seen, for a namespace":    {target: "/run/netns/x", file: 99},
		"a server's file":                             {target: "vg0/pvc-1", file: 70, table: "35 22 0:70 / /data rw - nfs4 srv:/ rw\n"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.lv()
			f.block("7:9", "loop9", map[string]string{"loop/backing_file": image})
			f.loops["loop9"] = device.LoopStatus{File: number(test.file)}
			f.tables[home][0] += "\n" + strings.TrimSuffix(test.table, "\n")
			f.tables[home][0] = strings.TrimSuffix(f.tables[home][0], "\n")
			if test.other != "" {
				f.namespace(4026532700, namespaces.Process{PID: 5, Comm: "builder"}, test.other)
			}
			f.host.at["/u"] = facts.HostMount{MountPoint: "/", Root: "/", Device: facts.DeviceNumber{Major: 8, Minor: 1}, FSType: "ext4"}
			f.host.at["/l"] = f.host.at["/u"]
			f.host.at["/data/dir"] = on(79, "tmpfs")
			f.host.at["/run/netns/x"] = facts.HostMount{MountPoint: "/run/netns/x", Root: "net:[4026532777]", FSType: "nsfs", Device: number(4)}
			if test.at.FSType != "" {
				f.host.at[image], f.host.numbers[image] = test.at, number(test.number)
			}
			r := f.find(test.target)
			holder := slices.ContainsFunc(r.Holders, func(h Holder) bool { return h.Kind == KindLoop && h.Device == "loop9" && h.Path == image })
			unknown := slices.ContainsFunc(r.Unknown, func(u namespaces.Unknown) bool { return strings.Contains(u.What+u.Why, "loop9") })
			if holder != test.holder || unknown != test.unknown {
				t.Errorf("holder %t, unknown %t: %+v %+v", holder, unknown, r.Holders, r.Unknown)
			}
		})
	}
}

// On the real kernel: a loop device in memory, on a subvolume of a btrfs, or on
// an overlay says nothing of a volume that is elsewhere, and is found where its
// own file system is asked about.
func TestARealLoopDeviceOnAnAnonymousNumber(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, dir string) (image, asked string){
		"tmpfs": func(_ *testing.T, dir string) (string, string) { return dir, dir },
		"overlay": func(t *testing.T, dir string) (string, string) {
			for _, sub := range []string{"lower", "upper", "work"} {
				mkdir(t, dir+"/"+sub)
			}
			mountAt(t, "overlay", dir+"/merged", "overlay", 0, fmt.Sprintf("lowerdir=%[1]s/lower,upperdir=%[1]s/upper,workdir=%[1]s/work", dir))
			return dir + "/merged", ""
		},
		"overlay over two file systems": func(t *testing.T, dir string) (string, string) {
			mkdir(t, dir+"/lower")
			mountAt(t, "upper", dir+"/other", "tmpfs", 0, "size=16m")
			mkdir(t, dir+"/other/upper")
			mkdir(t, dir+"/other/work")
			mountAt(t, "overlay", dir+"/merged", "overlay", 0, fmt.Sprintf("lowerdir=%[1]s/lower,upperdir=%[1]s/other/upper,workdir=%[1]s/other/work", dir))
			return dir + "/merged", ""
		},
		"btrfs": func(t *testing.T, dir string) (string, string) {
			mountAt(t, linuxtest.Btrfs(t, 1)[0], dir+"/pool", "btrfs", 0, "")
			linuxtest.Subvolume(t, dir+"/pool", "sub")
			return dir + "/pool/sub", dir + "/pool"
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := newVolume(t)
			v.unmount(t)
			image, asked := prepare(t, stage(t))
			node := linuxtest.LoopIn(t, image, 1<<20)
			r := find(t, v.number.String())
			for _, u := range r.Unknown {
				if strings.Contains(u.Why, filepath.Base(node)+":") {
					t.Errorf("of another volume it cannot be told: %s", u.Why)
				}
			}
			wantHolders(t, r)
			if asked == "" {
				return
			}
			r = find(t, asked)
			if !slices.ContainsFunc(r.Holders, func(h Holder) bool {
				return h.Kind == KindLoop && h.Device == filepath.Base(node) && h.Path == image+"/disk"
			}) {
				t.Errorf("it is not among what holds its file system: %q", told(r))
			}
		})
	}
}
