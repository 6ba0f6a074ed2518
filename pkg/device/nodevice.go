package device

import "strings"

// NoDevice says why a file system of this type has no block device of its own.
func NoDevice(fsType string) string {
	switch fsType {
	case "tmpfs", "ramfs", "devtmpfs", "hugetlbfs":
		return fsType + ": in memory"
	case "nfs", "nfs4", "cifs", "smb3", "ceph", "9p", "virtiofs", "glusterfs":
		return fsType + ": not on a device of this node"
	case "proc", "sysfs", "cgroup", "cgroup2", "devpts", "mqueue", "bpf", "debugfs", "tracefs", "securityfs", "nsfs":
		return fsType + ": made by the kernel"
	case "overlay":
		return "overlay: on the devices of its layers"
	case "btrfs":
		return "btrfs: on several devices perhaps; not resolved yet"
	case "zfs", "bcachefs":
		return fsType + ": keeps its own pool of devices"
	case "":
		return "no block device"
	default:
		if fsType == "fuse" || strings.HasPrefix(fsType, "fuse.") {
			return fsType + ": served by a process"
		}
		return fsType + ": no block device"
	}
}
