//go:build linux

package guard_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/matrix"
	"github.com/mountward/mountward/test/runtime/ward"
)

// TestASandboxedServiceSeesTheRuntimesMounts is T26: in a mount namespace of its
// own, made as systemd makes one for ProtectSystem= and its like, every mount is
// shared with somebody, whatever it is on the host.
func TestASandboxedServiceSeesTheRuntimesMounts(t *testing.T) {
	dirs := harness.TestHostDirs(t)
	s := newService(t, ward.Options{Policy: matrix.Policy, Config: harness.Config{NoLaunch: true}})
	s.within = []string{"unshare", "--mount", "--propagation", "slave", "sh", "-c", `mount --make-rshared / && exec "$@"`, "sh"}
	s.launch()
	s.says(0, ward.Synchronized)

	own, err := os.ReadFile(fmt.Sprintf("/proc/%d/mountinfo", s.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(own)) {
		if strings.Fields(line)[4] == dirs.Private.Path && !strings.Contains(line, " shared:") {
			t.Fatalf("nothing deceives the service: %s", line)
		}
	}
	if !strings.Contains(string(own), " "+dirs.Private.Path+" ") {
		t.Fatalf("%s is no mount of the service", dirs.Private.Path)
	}

	left := s.runOne(podIn("set-rslave", dirs.Private.Path))
	if got := s.Table(left).At("/data").Propagation(); got != "private" {
		t.Errorf("below a private mount: %s, want private", got)
	}
	raised := s.runOne(podIn("set-rslave", dirs.Shared.Path))
	if got := s.Table(raised).At("/data").Propagation(); got != "private,slave" {
		t.Errorf("below a shared mount: %s, want private,slave", got)
	}
	for _, c := range []string{left, raised} {
		s.never("drift", c)
	}
}
