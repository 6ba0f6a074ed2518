package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mountward/mountward/pkg/cli/internal/show"
	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/volumes"
)

// mapped makes a sysfs with devices of the device mapper: their names and the
// suffixes of their uuids.
func mapped(t *testing.T, devices ...[2]string) *node {
	t.Helper()
	sys := t.TempDir()
	for i, d := range devices {
		dir := filepath.Join(sys, "devices", "virtual", "block", fmt.Sprintf("dm-%d", i))
		id := "LVM-" + strings.Repeat("v", 32) + strings.Repeat(fmt.Sprint(i), 32)[:32] + d[1]
		for file, text := range map[string]string{"dev": fmt.Sprintf("253:%d\n", i), "dm/name": d[0] + "\n", "dm/uuid": id + "\n"} {
			write(t, filepath.Join(dir, file), text)
		}
		if err := os.Mkdir(filepath.Join(dir, "slaves"), 0o700); err != nil {
			t.Fatal(err)
		}
		link(t, "../../devices/virtual/block/"+filepath.Base(dir), filepath.Join(sys, "dev", "block", fmt.Sprintf("253:%d", i)))
		link(t, "../devices/virtual/block/"+filepath.Base(dir), filepath.Join(sys, "block", filepath.Base(dir)))
	}
	return &node{machine: machine{sys: sys}, devices: device.NewCache(device.FS{Sys: sys}, 10)}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, to, name string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(to, name); err != nil {
		t.Fatal(err)
	}
}

// TestLogicalVolumeIsFoundByItsName: the volume itself before its parts, a part
// where there is nothing else, and no other volume whose name is alike.
func TestLogicalVolumeIsFoundByItsName(t *testing.T) {
	n := mapped(t,
		[2]string{"vg0-data-real", "-real"},
		[2]string{"vg0-data", ""},
		[2]string{"vg0-pool-tpool", "-tpool"},
		[2]string{"vg0-a--b", ""},
		[2]string{"other", "-not-lvm"},
	)
	if err := os.RemoveAll(filepath.Join(n.sys, "devices", "virtual", "block", "dm-4")); err != nil { // gone since it was listed
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"vg0/data": "253:1", "vg0/pool": "253:2", "vg0/a-b": "253:3",
		"vg0/a": "", "vg0/none": "", "vg0/": "", "data": "",
	} {
		got := ""
		if target, found := n.lv(name); found {
			got = target.Storage.Device.String()
			if lv := target.Storage.Layers[0].LV; target.Target != name || lv.String() != name {
				t.Errorf("%s: target %s on %s", name, target.Target, lv)
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestPathStaysAsItIsWritten: what ".." leads to is the kernel's to tell.
func TestPathStaysAsItIsWritten(t *testing.T) {
	t.Chdir("/")
	for path, want := range map[string]string{"/a/../b": "/a/../b", "/": "/", "a/..": "/a/..", ".": "/.", "./x": "/x", ".//./a/..": "/a/.."} {
		if got, err := absolute(path); err != nil || got != want {
			t.Errorf("%s: %q %v, want %q", path, got, err, want)
		}
	}
}

// TestOverlayIsWhereAContainerWrites: a path on an overlay is on what its upper
// directory is on, where that is known.
func TestOverlayIsWhereAContainerWrites(t *testing.T) {
	upper := facts.DeviceNumber{Major: 8, Minor: 1}
	merged, volume, other := facts.DeviceNumber{Minor: 40}, facts.DeviceNumber{Minor: 41}, facts.DeviceNumber{Minor: 42}
	survey := volumes.Survey{Members: []volumes.Member{{Task: volumes.Task{
		Rootfs:  volumes.Rootfs{Superblock: merged, Backing: volumes.Backing{Device: upper}},
		Mounts:  []volumes.Mount{{Superblock: volume, Backing: volumes.Backing{Device: upper}}},
		Storage: []volumes.Storage{{Device: upper, FSType: "xfs"}},
	}}}}
	for _, test := range []struct {
		fsType string
		device facts.DeviceNumber
		want   string
	}{
		{"overlay", merged, "xfs"},
		{"overlay", volume, "xfs"},
		{"overlay", other, "overlay"},
		{"tmpfs", merged, "tmpfs"},
	} {
		target := show.Target{
			Mount:   &facts.HostMount{FSType: test.fsType, Device: test.device},
			Storage: &volumes.Storage{Device: test.device, FSType: test.fsType},
		}
		overlay(&target, survey)
		if got := target.Storage.FSType; got != test.want {
			t.Errorf("%s %s: %s, want %s", test.fsType, test.device, got, test.want)
		}
	}
	device := show.Target{Target: "8:1"}
	overlay(&device, survey)
	if device.Storage != nil {
		t.Error("a device became an overlay")
	}
}
