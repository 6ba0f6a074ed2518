package device

import "strings"

// NoDevice says why a file system of this type has no block device of its own:
// of one with an anonymous device number. What more is known, such as the
// source where that names something, is the caller's to add.
func NoDevice(fsType string) string {
	switch fsType {
	case "tmpfs", "ramfs", "devtmpfs", "hugetlbfs":
		return fsType + ": in memory"
	case "nfs", "nfs4", "cifs", "smb3", "ceph", "9p", "virtiofs", "glusterfs", "lustre", "beegfs", "afs":
		return fsType + ": not on a device of this node"
	case "proc", "sysfs", "cgroup", "cgroup2", "devpts", "mqueue", "bpf", "debugfs", "tracefs", "securityfs", "nsfs",
		"autofs", "binfmt_misc", "configfs", "efivarfs", "fusectl", "pstore", "rpc_pipefs", "selinuxfs":
		return fsType + ": made by the kernel"
	case "overlay":
		return "overlay: on the devices of its layers"
	case "btrfs":
		return "btrfs: its devices could not be asked for"
	case "zfs":
		return "zfs: on the devices of a pool, which the source names"
	case "bcachefs":
		return "bcachefs: on devices of its own, which the source names"
	case "erofs":
		return "erofs: on a file, which the source names"
	case "ubifs":
		return "ubifs: on flash memory"
	case "":
		return "no block device"
	}
	if fsType == "fuse" || strings.HasPrefix(fsType, "fuse.") {
		return fsType + ": served by a process"
	}
	return fsType + ": no block device"
}
