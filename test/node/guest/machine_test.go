//go:build linux

package guest

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mountward/mountward/test/runtime/harness"
)

// suite is the release of the machine. What one has must be there: that it is
// missing is no reason to leave out a test.
func suite() string { return os.Getenv("NODE_SUITE") }

// full says that there is time for everything.
func full() bool { return os.Getenv("NODE_FULL") == "true" }

// TestMachine is what the other tests rest on: a node as distributions have it.
func TestMachine(t *testing.T) {
	var uname unix.Utsname
	if err := unix.Uname(&uname); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s, Linux %s, %s", suite(), unix.ByteSliceToString(uname.Release[:]),
		firstLine(output(t, "systemctl", "--version")))

	comm, err := os.ReadFile("/proc/1/comm")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(string(comm)); got != "systemd" {
		t.Errorf("pid 1 is %q, want systemd", got)
	}
	var fs unix.Statfs_t
	if err := unix.Statfs("/sys/fs/cgroup", &fs); err != nil || fs.Type != unix.CGROUP2_SUPER_MAGIC {
		t.Errorf("/sys/fs/cgroup has the magic %#x, %v; want cgroup v2", fs.Type, err)
	}
	mounts, err := harness.Mountinfo(1)
	if err != nil {
		t.Fatal(err)
	}
	if got := mounts.At("/").Propagation(); got != "shared" {
		t.Errorf("/ is %s, want shared", got)
	}
	if got := firstLine(output(t, "/usr/local/bin/containerd", "--version")); !strings.Contains(got, "v2.4.2") {
		t.Errorf("containerd is %q, want v2.4.2", got)
	}
}
