package linuxtest

import (
	"os"
	"testing"
	"unsafe"
)

const (
	mkfsBtrfs       = "/usr/sbin/mkfs.btrfs"
	subvolumeCreate = 0x5000940e // BTRFS_IOC_SUBVOL_CREATE
	volumeArgs      = 4096       // struct btrfs_ioctl_vol_args: a number and the name
)

// Btrfs makes a btrfs on so many loop devices and returns their nodes.
func Btrfs(t testing.TB, devices int) []string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: loop devices")
	}
	if _, err := os.Stat(mkfsBtrfs); err != nil {
		t.Skip("needs root and mkfs.btrfs (btrfs-progs): ", err)
	}
	var nodes []string
	for range devices {
		nodes = append(nodes, Loop(t, 256<<20))
	}
	run(t, append([]string{mkfsBtrfs, "-q", "-f"}, nodes...)...)
	return nodes
}

// Subvolume makes a btrfs subvolume in a directory.
func Subvolume(t testing.TB, dir, name string) {
	t.Helper()
	d, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var args [volumeArgs]byte
	copy(args[8:], name)
	if _, err := ioctl(d, subvolumeCreate, uintptr(unsafe.Pointer(&args))); err != nil {
		t.Fatalf("make subvolume %s in %s: %v", name, dir, err)
	}
}
