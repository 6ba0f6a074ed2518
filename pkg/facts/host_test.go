package facts

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDeviceNumber(t *testing.T) {
	for _, text := range []string{"0:0", "0:41", "253:3", "4294967295:4294967295"} {
		var d DeviceNumber
		if err := d.UnmarshalText([]byte(text)); err != nil || d.String() != text {
			t.Errorf("%q reads as %v (%v)", text, d, err)
		}
		if d.IsZero() != (text == "0:0") {
			t.Errorf("%q: IsZero %v", text, d.IsZero())
		}
	}
	for _, text := range []string{"", ":", "8", "8:", ":1", "8:1:2", "-8:1", "+8:1", "8: 1", "4294967296:0", "0x8:1"} {
		if err := new(DeviceNumber).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q: want an error", text)
		}
	}
}

func FuzzDeviceNumber(f *testing.F) {
	f.Add("253:3")
	f.Add("008:01")
	f.Fuzz(func(t *testing.T, text string) {
		before := DeviceNumber{1, 2}
		d := before
		if err := d.UnmarshalText([]byte(text)); err != nil {
			if d != before {
				t.Fatalf("%q: an error, and the value became %v", text, d)
			}
			return
		}
		var again DeviceNumber
		if err := again.UnmarshalText([]byte(d.String())); err != nil || again != d {
			t.Fatalf("%q: %v reads as %v (%v)", text, d, again, err)
		}
	})
}

func TestHostMountIdentity(t *testing.T) {
	device := DeviceNumber{253, 3}
	for _, test := range []struct {
		name  string
		mount HostMount
		want  Identity
	}{
		{"the mount point itself", HostMount{Canonical: "/data", MountPoint: "/data", Device: device, Root: "/"}, Identity{device, "/"}},
		{"below a mount", HostMount{Canonical: "/data/a/b", MountPoint: "/data", Device: device, Root: "/"}, Identity{device, "/a/b"}},
		{"below a bind", HostMount{Canonical: "/data/a", MountPoint: "/data", Device: device, Root: "/x"}, Identity{device, "/x/a"}},
		{"below /", HostMount{Canonical: "/data", MountPoint: "/", Device: device, Root: "/"}, Identity{device, "/data"}},
		{"a deleted root stays as the kernel wrote it", HostMount{Canonical: "/data", MountPoint: "/data", Device: device, Root: "/x//deleted"}, Identity{device, "/x//deleted"}},
		{"a mount that does not cover it is none", HostMount{Canonical: "/database", MountPoint: "/data", Device: device, Root: "/"}, Identity{}},
		{"no root is none", HostMount{Canonical: "/data", MountPoint: "/data", Device: device}, Identity{}},
	} {
		if diff := cmp.Diff(test.want, test.mount.Identity()); diff != "" {
			t.Errorf("%s: -want +got\n%s", test.name, diff)
		}
	}
	if (Identity{Root: "/"}).IsZero() || (Identity{Device: device}).IsZero() || !(Identity{}).IsZero() {
		t.Error("IsZero: want it of the zero identity only")
	}
	line := HostMount{MountID: 41, Device: device, State: MountState{Peer: 7}, MountPoint: "/data", FSType: "xfs", Source: "/dev/mapper/vg-lv"}.Line()
	if want := "mount 41 253:3 shared:7 on /data - xfs /dev/mapper/vg-lv"; line != want {
		t.Errorf("Line() = %q, want %q", line, want)
	}
}
