package facts

import (
	"fmt"
	"strings"
)

// DeviceRule is a rule of a container's device cgroup. Rules are applied in
// order and the last that matches decides. A number that is nil or negative is
// any.
type DeviceRule struct {
	Allow        bool
	Type         string // "a" or "" for all, "b", "c"
	Access       string // of "rwm"; "" for all
	Major, Minor *int64
}

// PrivilegeAtCreate answers whether a container is privileged, from what NRI
// tells at creation. Capabilities are not told then. The CRI plugin of
// containerd makes the sysfs mount writable for privileged containers and for
// no others, and allows them all devices; where both signs agree the answer is
// sure. PrivilegeFromSpec tells the rest once the bundle exists.
//
// Source: containerd 2.4.2 WithWriteableSysfs and WithAllDevicesAllowed, used
// only for privileged containers, measured.
func PrivilegeAtCreate(mounts []Mount, devices []DeviceRule) Answer {
	sysfs := SysfsWritable(mounts)
	switch {
	case sysfs.Truth == No:
		return sysfs
	case sysfs.Truth == Unknown:
		return CannotTell("no sign at creation: " + sysfs.Why)
	case !allowsAll(devices):
		return CannotTell(sysfs.Why + ", but the device rules do not allow all devices")
	default:
		return Is(true, sysfs.Why+" and all devices are allowed")
	}
}

// SysfsWritable answers whether the container's own sysfs is mounted writable
// at /sys. It cannot be told where /sys is no sysfs: a user namespace with the
// host's network binds it, and a custom base specification can leave it out.
func SysfsWritable(mounts []Mount) Answer {
	answer := CannotTell("nothing is mounted at /sys")
	for _, m := range mounts {
		if m.CleanDestination() != "/sys" {
			continue
		}
		// A later mount covers an earlier one.
		mode := lastOf(m.Options, "ro", "rw")
		switch {
		case m.Bind() || m.Type != "sysfs":
			answer = CannotTell(fmt.Sprintf("/sys is no sysfs of the container's own (type %q)", m.Type))
		case mode == "":
			answer = CannotTell("the sysfs at /sys says neither ro nor rw")
		default:
			answer = Is(mode == "rw", "the sysfs at /sys is "+mode)
		}
	}
	return answer
}

// SpecPrivilege is what a container's final specification says of its
// privilege.
type SpecPrivilege struct {
	Bounding      []string // process.capabilities.bounding, "CAP_SYS_ADMIN"
	MaskedPaths   []string
	ReadonlyPaths []string
	Sysfs         Answer // SysfsWritable of the final mounts
	Devices       []DeviceRule
	Seccomp       bool // a filter is set
}

// PrivilegeFromSpec answers whether a container is privileged, from the
// specification the runtime executes: no if anything confines it, with the
// first thing that does. Only the shape that containerd's setting
// privileged_without_host_devices gives, privileged in all but its devices,
// cannot be told.
func PrivilegeFromSpec(s SpecPrivilege) Answer {
	switch {
	case lastOf(s.Bounding, "CAP_SYS_ADMIN") == "":
		return Is(false, "CAP_SYS_ADMIN is not in the bounding set")
	case len(s.MaskedPaths) > 0:
		return Is(false, "masked paths: "+list(s.MaskedPaths))
	case len(s.ReadonlyPaths) > 0:
		return Is(false, "read-only paths: "+list(s.ReadonlyPaths))
	case s.Sysfs.Truth == No:
		return s.Sysfs
	case s.Seccomp:
		return Is(false, "a seccomp filter is set")
	case !allowsAll(s.Devices):
		return CannotTell("CAP_SYS_ADMIN and no path masked, but the device rules do not allow all devices")
	default:
		return Is(true, "CAP_SYS_ADMIN, no path masked or read-only, no seccomp filter, all devices allowed")
	}
}

func allowsAll(rules []DeviceRule) bool {
	all := false
	for _, r := range rules {
		switch {
		case !r.Allow:
			all = false // whatever it denies is no longer "all"
		case r.everything():
			all = true
		}
	}
	return all
}

func (r DeviceRule) everything() bool {
	every := func(n *int64) bool { return n == nil || *n < 0 }
	access := r.Access == "" || strings.Contains(r.Access, "r") &&
		strings.Contains(r.Access, "w") && strings.Contains(r.Access, "m")
	return (r.Type == "" || r.Type == "a") && every(r.Major) && every(r.Minor) && access
}

func lastOf(list []string, words ...string) string {
	last := ""
	for _, item := range list {
		for _, word := range words {
			if item == word {
				last = word
			}
		}
	}
	return last
}

func list(paths []string) string {
	if len(paths) == 1 {
		return paths[0]
	}
	return fmt.Sprintf("%s and %d more", paths[0], len(paths)-1)
}
