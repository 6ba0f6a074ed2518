package hostview

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mountward/mountward/pkg/facts"
)

const privilegedSpec = `{"ociVersion":"1.2.0","process":{"args":["x"],"capabilities":{"bounding":["CAP_KILL","CAP_SYS_ADMIN"]}},
"mounts":[{"destination":"/sys","type":"sysfs","source":"sysfs","options":["nosuid","rw"]}],
"linux":{"maskedPaths":[],"resources":{"devices":[{"allow":true,"access":"rwm"}]},"namespaces":[{"type":"mount"}]}}`

func TestPrivilegeIsReadFromTheSpecification(t *testing.T) {
	tests := []struct {
		name, old, new string
		want           facts.Truth
		why            string
	}{
		{"as it is", "", "", facts.Yes, ""},
		{"a capability less", "CAP_SYS_ADMIN", "CAP_SYS_CHROOT", facts.No, "CAP_SYS_ADMIN"},
		{"a path masked", `"maskedPaths":[]`, `"maskedPaths":["/proc/kcore"]`, facts.No, "/proc/kcore"},
		{"a path read-only", `"maskedPaths":[]`, `"readonlyPaths":["/proc/sys"]`, facts.No, "/proc/sys"},
		{"sysfs read-only", `"rw"`, `"ro"`, facts.No, "sysfs"},
		{"a filter", `"linux":{`, `"linux":{"seccomp":{"defaultAction":"SCMP_ACT_ERRNO","syscalls":[{"names":["read"],"action":"SCMP_ACT_ALLOW"}]},`, facts.No, "seccomp"},
		{"not all devices", `"allow":true`, `"allow":false`, facts.Unknown, "device"},
		{"cut off", `]}}`, ``, facts.Unknown, "read specification"},
	}
	v := openView(t, Options{})
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := Bundle{Dir: t.TempDir()}
			text := strings.Replace(privilegedSpec, test.old, test.new, 1)
			if err := os.WriteFile(filepath.Join(b.Dir, "config.json"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := v.Privilege(b); got.Truth != test.want || !strings.Contains(got.Why, test.why) {
				t.Errorf("privileged: %v (%s), want %v with %q", got.Truth, got.Why, test.want, test.why)
			}
		})
	}
	if got := v.Privilege(Bundle{Dir: t.TempDir()}); got.Truth != facts.Unknown {
		t.Errorf("no config.json: %v, want unknown", got)
	}
}
