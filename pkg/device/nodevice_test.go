package device

import "testing"

// TestNoDeviceSaysWhy: that there is none only where that is known of the type.
func TestNoDeviceSaysWhy(t *testing.T) {
	const unknown = "no block device of its own, and not known what it is on"
	for fsType, want := range map[string]struct {
		why  string
		none bool
	}{
		"tmpfs":      {"in memory", true},
		"nfs4":       {"not on a device of this node", true},
		"cgroup2":    {"made by the kernel", true},
		"ubifs":      {"on flash memory", true},
		"fuse":       {"served by a process", true},
		"fuse.s3fs":  {"served by a process", true},
		"fuse.":      {"served by a process", true},
		"overlay":    {"on the devices of its layers", false},
		"btrfs":      {"its devices could not be asked for", false},
		"zfs":        {"on the devices of a pool, which the source names", false},
		"bcachefs":   {"on devices of its own, which the source names", false},
		"erofs":      {"on a file, which the source names", false},
		"ecryptfs":   {unknown, false}, // lies on a directory of any file system
		"fusewhat":   {unknown, false},
		"newfs":      {unknown, false},
		"nfs.":       {unknown, false},
		"tmpfs.deep": {unknown, false},
	} {
		if why, none := NoDevice(fsType); why != fsType+": "+want.why || none != want.none {
			t.Errorf("%q: %q, none %v; want %q, %v", fsType, why, none, want.why, want.none)
		}
	}
	if why, none := NoDevice(""); why != "no block device, and the type of the file system is not known" || none {
		t.Errorf("a type that is not known: %q, none %v", why, none)
	}
}
