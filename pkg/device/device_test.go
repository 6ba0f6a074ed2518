package device

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
)

// TestLookup: of one device, without what is below.
func TestLookup(t *testing.T) {
	sys := newFixture(t, `
253:4 dm-4 dm=vg--data-pvc--1--6f0e uuid=LVM-{vg}{lv} > 253:99
253:5 dm-5 dm=vg-pool-tpool uuid=LVM-{vg}{lv}-tpool
253:6 dm-6 dm=vg-lv_rimage_0 uuid=LVM-{vg}{lv}
253:7 dm-7 dm=luks-1-2 uuid=CRYPT-LUKS2-x-luks-1-2
253:8 dm-8 dm=containerd-snap-1
253:9 dm-9 dm=vg-pvmove0 uuid=LVM-{vg}{lv}
253:0 zram0
8:1 sda1`).FS()
	uuid := "LVM-" + id("vg") + id("lv")
	tests := []struct {
		number facts.DeviceNumber
		want   Device
	}{
		{number(253, 4), Device{
			Name: "dm-4", DMName: "vg--data-pvc--1--6f0e", DMUUID: uuid,
			LV: &LogicalVolume{VG: "vg-data", LV: "pvc-1-6f0e", UUID: "lv0000-0000-0000-0000-0000-0000-000000", VGUUID: "vg0000-0000-0000-0000-0000-0000-000000"},
		}},
		{number(253, 5), Device{Name: "dm-5", DMName: "vg-pool-tpool", DMUUID: uuid + "-tpool"}},
		{number(253, 6), Device{Name: "dm-6", DMName: "vg-lv_rimage_0", DMUUID: uuid}},
		{number(253, 7), Device{Name: "dm-7", DMName: "luks-1-2", DMUUID: "CRYPT-LUKS2-x-luks-1-2"}},
		{number(253, 8), Device{Name: "dm-8", DMName: "containerd-snap-1"}},
		{number(253, 9), Device{Name: "dm-9", DMName: "vg-pvmove0", DMUUID: uuid}},
		{number(253, 0), Device{Name: "zram0"}},
		{number(8, 1), Device{Name: "sda1"}},
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
	if _, err := sys.Lookup(number(8, 99)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a device that is gone: error = %v", err)
	}
	if _, err := sys.Lookup(number(0, 40)); !errors.Is(err, ErrNotBlock) {
		t.Errorf("an anonymous device: error = %v", err)
	}
}

// TestThisMachine: every block device of it has a chain that begins with it.
func TestThisMachine(t *testing.T) {
	links, err := filepath.Glob("/sys/dev/block/*")
	if err != nil {
		t.Fatal(err)
	}
	sys := FS{Sys: "/sys", Loop: NewLoops("/dev").Status}
	for _, link := range links {
		n := parse(t, filepath.Base(link))
		target, err := os.Readlink(link)
		if err != nil {
			continue // it is gone
		}
		name := filepath.Base(target)
		d, errDevice := sys.Lookup(n)
		c, err := sys.Chain(n)
		if now, errNow := os.Readlink(link); errNow != nil || now != target {
			continue // it went meanwhile: other tests make devices
		}
		if errDevice != nil || d.Name != name {
			t.Errorf("%s = %q, %v; want %q", n, d.Name, errDevice, name)
		}
		if err != nil || c.Layers[0].Name != name || c.Layers[0].Number != n || c.Tops != 1 {
			t.Errorf("%s = %+v, %v; want %q on top", n, c, err, name)
		}
	}
}

func number(major, minor uint32) facts.DeviceNumber {
	return facts.DeviceNumber{Major: major, Minor: minor}
}
