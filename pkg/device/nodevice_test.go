package device

import (
	"strings"
	"testing"
)

func TestNoDeviceSaysWhy(t *testing.T) {
	for fsType, want := range map[string]string{
		"tmpfs":      "in memory",
		"nfs4":       "not on a device of this node",
		"cgroup2":    "made by the kernel",
		"overlay":    "on the devices of its layers",
		"btrfs":      "its devices could not be asked for",
		"zfs":        "on the devices of a pool, which the source names",
		"bcachefs":   "on devices of its own, which the source names",
		"erofs":      "on a file, which the source names",
		"ubifs":      "on flash memory",
		"fuse":       "served by a process",
		"fuse.s3fs":  "served by a process",
		"fusewhat":   "no block device",
		"fuse.":      "served by a process",
		"newfs":      "no block device",
		"nfs.":       "no block device",
		"tmpfs.deep": "no block device",
	} {
		if got := NoDevice(fsType); got != fsType+": "+want {
			t.Errorf("%q: %q, want %q", fsType, got, want)
		}
	}
	if got := NoDevice(""); got != "no block device" || strings.Contains(got, ":") {
		t.Errorf("a type that is not known: %q", got)
	}
}
