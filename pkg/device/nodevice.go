package device

import "strings"

// NoDevice says why a file system of this type, with an anonymous device number,
// has no block device of its own, and whether that means that it is on no device
// of this node: a type that is not known, and one that has devices which its
// number does not tell, can be on a logical volume. What more is known, such as
// the source where that names something, is the caller's to add.
func NoDevice(fsType string) (why string, none bool) {
	switch fsType {
	case "tmpfs", "ramfs", "rootfs", "devtmpfs", "hugetlbfs":
		return fsType + ": in memory", true
	case "nfs", "nfs4", "cifs", "smb3", "ceph", "9p", "virtiofs", "glusterfs", "lustre", "beegfs", "afs":
		return fsType + ": not on a device of this node", true
	case "proc", "sysfs", "cgroup", "cgroup2", "devpts", "mqueue", "bpf", "debugfs", "tracefs", "securityfs", "nsfs",
		"autofs", "binfmt_misc", "configfs", "efivarfs", "fusectl", "pstore", "rpc_pipefs", "selinuxfs",
		"cpuset", "functionfs", "nfsd", "resctrl":
		return fsType + ": made by the kernel", true
	case "ubifs":
		return "ubifs: on flash memory", true
	case "overlay":
		return "overlay: on the devices of its layers", false
	case "btrfs":
		return "btrfs: its devices could not be asked for", false
	case "zfs":
		return "zfs: on the devices of a pool, which the source names", false
	case "bcachefs":
		return "bcachefs: on devices of its own, which the source names", false
	case "erofs":
		return "erofs: on a file, which the source names", false
	case "":
		return "no block device, and the type of the file system is not known", false
	}
	if fsType == "fuse" || strings.HasPrefix(fsType, "fuse.") {
		return fsType + ": served by a process", true
	}
	return fsType + ": no block device of its own, and not known what it is on", false
}
