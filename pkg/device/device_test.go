package device

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
)

const (
	vgUUID = "abcdefGHIJKLMNOPQRSTUVWXYZ012345"
	lvUUID = "ZYXWVUtsrqponmlkjihgfedcba543210"
)

// sysfs makes a sysfs of devices: MAJ:MIN to kernel name and attributes.
func sysfs(t *testing.T, devices map[string]map[string]string) FS {
	t.Helper()
	sys := t.TempDir()
	for number, files := range devices {
		dir := filepath.Join(sys, "devices", "virtual", "block", files["name"])
		for _, d := range []string{filepath.Join(dir, "dm"), filepath.Join(sys, "dev", "block")} {
			if err := os.MkdirAll(d, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{"dm/name", "dm/uuid"} {
			text, ok := files[name]
			if !ok {
				continue
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(filepath.Join("..", "..", "devices", "virtual", "block", files["name"]), filepath.Join(sys, "dev", "block", number)); err != nil {
			t.Fatal(err)
		}
	}
	return FS{Sys: sys}
}

func TestLookup(t *testing.T) {
	sys := sysfs(t, map[string]map[string]string{
		"253:4": {"name": "dm-4", "dm/name": "vg--data-pvc--1--6f0e", "dm/uuid": "LVM-" + vgUUID + lvUUID},
		"253:5": {"name": "dm-5", "dm/name": "vg-pool-tpool", "dm/uuid": "LVM-" + vgUUID + lvUUID + "-tpool"},
		"253:6": {"name": "dm-6", "dm/name": "vg-lv_rimage_0", "dm/uuid": "LVM-" + vgUUID + lvUUID},
		"253:7": {"name": "dm-7", "dm/name": "luks-1-2", "dm/uuid": "CRYPT-LUKS2-x-luks-1-2"},
		"253:8": {"name": "dm-8", "dm/name": "containerd-snap-1", "dm/uuid": ""},
		"253:9": {"name": "dm-9", "dm/name": "vg-pvmove0", "dm/uuid": "LVM-" + vgUUID + lvUUID},
		"253:0": {"name": "zram0"},
		"8:1":   {"name": "sda1"},
	})
	tests := []struct {
		number facts.DeviceNumber
		want   Device
	}{
		{facts.DeviceNumber{Major: 253, Minor: 4}, Device{
			Name: "dm-4", DMName: "vg--data-pvc--1--6f0e", DMUUID: "LVM-" + vgUUID + lvUUID,
			LV: &LogicalVolume{VG: "vg-data", LV: "pvc-1-6f0e", UUID: "ZYXWVU-tsrq-ponm-lkji-hgfe-dcba-543210", VGUUID: "abcdef-GHIJ-KLMN-OPQR-STUV-WXYZ-012345"},
		}},
		{facts.DeviceNumber{Major: 253, Minor: 5}, Device{Name: "dm-5", DMName: "vg-pool-tpool", DMUUID: "LVM-" + vgUUID + lvUUID + "-tpool"}},
		{facts.DeviceNumber{Major: 253, Minor: 6}, Device{Name: "dm-6", DMName: "vg-lv_rimage_0", DMUUID: "LVM-" + vgUUID + lvUUID}},
		{facts.DeviceNumber{Major: 253, Minor: 7}, Device{Name: "dm-7", DMName: "luks-1-2", DMUUID: "CRYPT-LUKS2-x-luks-1-2"}},
		{facts.DeviceNumber{Major: 253, Minor: 8}, Device{Name: "dm-8", DMName: "containerd-snap-1"}},
		{facts.DeviceNumber{Major: 253, Minor: 9}, Device{Name: "dm-9", DMName: "vg-pvmove0", DMUUID: "LVM-" + vgUUID + lvUUID}},
		{facts.DeviceNumber{Major: 253, Minor: 0}, Device{Name: "zram0"}},
		{facts.DeviceNumber{Major: 8, Minor: 1}, Device{Name: "sda1"}},
	}
	for _, test := range tests {
		test.want.Number = test.number
		got, err := sys.Lookup(test.number)
		if err != nil {
			t.Errorf("%s: %v", test.number, err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.number, diff)
		}
	}
	if _, err := sys.Lookup(facts.DeviceNumber{Major: 8, Minor: 99}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a device that is gone: error = %v", err)
	}
	if _, err := sys.Lookup(facts.DeviceNumber{Minor: 40}); !errors.Is(err, ErrNotBlock) {
		t.Errorf("an anonymous device: error = %v", err)
	}
}

// TestLookupOfThisMachine: the root file system's device, where it has one.
func TestLookupOfThisMachine(t *testing.T) {
	links, err := filepath.Glob("/sys/dev/block/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		var number facts.DeviceNumber
		if err := number.UnmarshalText([]byte(filepath.Base(link))); err != nil {
			t.Fatal(err)
		}
		target, err := os.Readlink(link)
		if err != nil {
			continue // it is gone
		}
		if d, err := (FS{Sys: "/sys"}).Lookup(number); err != nil || d.Name != filepath.Base(target) {
			t.Errorf("%s = %q, %v; want %q", number, d.Name, err, filepath.Base(target))
		}
	}
}

func TestSplitName(t *testing.T) {
	tests := []struct{ name, vg, lv, layer string }{
		{"vg-lv", "vg", "lv", ""},
		{"my--vg-my--lv", "my-vg", "my-lv", ""},
		{"a--b--c-d", "a-b-c", "d", ""},
		{"vg-tp-tpool", "vg", "tp", "tpool"},
		{"vg-snap-cow", "vg", "snap", "cow"},
		{"vg0-var--log", "vg0", "var-log", ""},
		{"a---b", "a-", "b", ""},
		{"vg---lv", "vg-", "lv", ""},
		{"vg-lv-", "vg", "lv-", ""},
		{"foo", "foo", "", ""},
		{"", "", "", ""},
	}
	for _, test := range tests {
		vg, lv, layer := SplitName(test.name)
		if vg != test.vg || lv != test.lv || layer != test.layer {
			t.Errorf("%q = %q, %q, %q; want %q, %q, %q", test.name, vg, lv, layer, test.vg, test.lv, test.layer)
		}
	}
}

// FuzzSplitName: what LVM joins is split into the same again.
func FuzzSplitName(f *testing.F) {
	f.Add("vg-data", "pvc-1", "")
	f.Add("a", "b", "tpool")
	f.Fuzz(func(t *testing.T, vg, lv, layer string) {
		_, _, _ = SplitName(vg + lv + layer)
		for _, part := range []string{vg, lv, layer} {
			// LVM's names do not begin with a hyphen; one at the end is
			// doubled like any other.
			if strings.HasPrefix(part, "-") {
				return
			}
		}
		if vg == "" || lv == "" {
			return
		}
		double := func(s string) string { return strings.ReplaceAll(s, "-", "--") }
		name := double(vg) + "-" + double(lv)
		if layer != "" {
			name += "-" + double(layer)
		}
		if a, b, c := SplitName(name); a != vg || b != lv || c != layer {
			t.Errorf("%q = %q, %q, %q; want %q, %q, %q", name, a, b, c, vg, lv, layer)
		}
	})
}
