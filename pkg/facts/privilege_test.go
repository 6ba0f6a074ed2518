package facts

import (
	"strings"
	"testing"
)

func allDevices() []DeviceRule { return []DeviceRule{{Allow: true, Access: "rwm"}} }

func TestPrivilegeAtCreate(t *testing.T) {
	one, minus := int64(1), int64(-1)
	sysfs := func(options ...string) Mount {
		return Mount{Destination: "/sys", Type: "sysfs", Source: "sysfs", Options: options}
	}
	deny := DeviceRule{Access: "rwm"}
	for _, test := range []struct {
		name    string
		mounts  []Mount
		devices []DeviceRule
		want    Truth
		why     string
	}{
		{"sysfs rw and all devices", []Mount{sysfs("nosuid", "rw")}, allDevices(), Yes, "rw"},
		{"type a, numbers -1 are all devices", []Mount{sysfs("rw")}, []DeviceRule{{Allow: true, Type: "a", Access: "mrw", Major: &minus, Minor: &minus}}, Yes, ""},
		{"deny all, then allow all", []Mount{sysfs("rw")}, []DeviceRule{deny, {Allow: true, Access: "rwm"}}, Yes, ""},
		{"a destination that is not clean", []Mount{{Destination: "/sys/", Type: "sysfs", Options: []string{"rw"}}}, allDevices(), Yes, ""},
		{"sysfs ro", []Mount{sysfs("nosuid", "ro")}, allDevices(), No, "ro"},
		{"sysfs ro and devices denied", []Mount{sysfs("ro")}, []DeviceRule{deny}, No, "ro"},
		{"the last word decides", []Mount{sysfs("ro", "rw")}, allDevices(), Yes, ""},
		{"a later sysfs covers the first", []Mount{sysfs("rw"), sysfs("ro")}, allDevices(), No, ""},
		{"devices denied", []Mount{sysfs("rw")}, []DeviceRule{deny}, Unknown, "device rules"},
		{"some devices allowed", []Mount{sysfs("rw")}, []DeviceRule{deny, {Allow: true, Type: "c", Major: &one, Minor: &one, Access: "rwm"}}, Unknown, "device rules"},
		{"all devices but one", []Mount{sysfs("rw")}, []DeviceRule{{Allow: true, Access: "rwm"}, {Type: "b", Major: &one, Access: "rwm"}}, Unknown, "device rules"},
		{"all devices, read only", []Mount{sysfs("rw")}, []DeviceRule{{Allow: true, Access: "r"}}, Unknown, "device rules"},
		{"no device rules", []Mount{sysfs("rw")}, nil, Unknown, "device rules"},
		{"no sysfs: a custom base specification", nil, allDevices(), Unknown, "nothing is mounted at /sys"},
		{"sysfs without a word", []Mount{sysfs("nosuid")}, allDevices(), Unknown, "neither"},
		{"a user namespace with the host's network", []Mount{{Destination: "/sys", Type: "bind", Source: "/sys", Options: []string{"rbind", "ro"}}}, allDevices(), Unknown, "no sysfs"},
		{"a bind over the sysfs", []Mount{sysfs("rw"), {Destination: "/sys", Source: "/x", Options: []string{"rbind", "rw"}}}, allDevices(), Unknown, "no sysfs"},
		{"a bind whatever its type says", []Mount{sysfs("rbind", "rw")}, allDevices(), Unknown, "no sysfs"},
		{"something else below /sys says nothing", []Mount{sysfs("ro"), {Destination: "/sys/fs/cgroup", Type: "cgroup", Options: []string{"rw"}}}, allDevices(), No, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := PrivilegeAtCreate(test.mounts, test.devices)
			if got.Truth != test.want || got.Why == "" || !strings.Contains(got.Why, test.why) {
				t.Errorf("got %v (%s), want %v (... %s ...)", got.Truth, got.Why, test.want, test.why)
			}
		})
	}
}

func TestPrivilegeFromSpec(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*SpecPrivilege)
		want   Truth
		why    string
	}{
		{"privileged", func(*SpecPrivilege) {}, Yes, "CAP_SYS_ADMIN"},
		{"privileged under a custom base specification", func(s *SpecPrivilege) { s.Sysfs = CannotTell("none") }, Yes, ""},
		{"no capability", func(s *SpecPrivilege) { s.Bounding = []string{"CAP_CHOWN", "CAP_SYS_ADMINX"} }, No, "CAP_SYS_ADMIN is not"},
		{"one masked path", func(s *SpecPrivilege) { s.MaskedPaths = []string{"/proc/kcore"} }, No, "/proc/kcore"},
		{"many masked paths", func(s *SpecPrivilege) { s.MaskedPaths = []string{"/proc/acpi", "b", "c"} }, No, "/proc/acpi and 2 more"},
		{"a read-only path", func(s *SpecPrivilege) { s.ReadonlyPaths = []string{"/proc/sys"} }, No, "/proc/sys"},
		{"procMount Unmasked and SYS_ADMIN alone are not it", func(s *SpecPrivilege) { s.Sysfs = Is(false, "the sysfs at /sys is ro") }, No, "sysfs"},
		{"a seccomp filter", func(s *SpecPrivilege) { s.Seccomp = true }, No, "seccomp"},
		{"privileged_without_host_devices", func(s *SpecPrivilege) { s.Devices = []DeviceRule{{Access: "rwm"}} }, Unknown, "device rules"},
	} {
		t.Run(test.name, func(t *testing.T) {
			spec := SpecPrivilege{
				Bounding: []string{"CAP_CHOWN", "CAP_SYS_ADMIN"},
				Sysfs:    Is(true, "the sysfs at /sys is rw"),
				Devices:  allDevices(),
			}
			test.change(&spec)
			got := PrivilegeFromSpec(spec)
			if got.Truth != test.want || !strings.Contains(got.Why, test.why) {
				t.Errorf("got %v (%s), want %v (... %s ...)", got.Truth, got.Why, test.want, test.why)
			}
		})
	}
}
