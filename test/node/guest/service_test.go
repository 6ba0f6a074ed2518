//go:build linux

package guest

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

const service = "mountward.service"

// property is one property of a unit.
func property(t *testing.T, unit, name string) string {
	t.Helper()
	return strings.TrimSpace(output(t, "systemctl", "show", "--value", "--property", name, unit))
}

// mainPID is the process of mountward.service.
func mainPID(t *testing.T) int {
	t.Helper()
	pid, err := strconv.Atoi(property(t, service, "MainPID"))
	if err != nil || pid == 0 {
		t.Fatalf("main process of %s is %d, %v", service, pid, err)
	}
	return pid
}

// stays fails the test unless the service runs and never ended: not killed by
// its system call filter, not restarted.
func stays(t *testing.T) {
	t.Helper()
	for name, want := range map[string]string{"ActiveState": "active", "SubState": "running", "Result": "success", "NRestarts": "0"} {
		if got := property(t, service, name); got != want {
			t.Errorf("%s of %s is %q, want %q", name, service, got, want)
		}
	}
}

// TestShippedUnit is the unit as "make install" puts it there.
func TestShippedUnit(t *testing.T) {
	connect(t)
	stays(t)
	// Before version 255 systemd leaves the "/usr" out.
	if got := property(t, service, "FragmentPath"); strings.TrimPrefix(got, "/usr") != "/lib/systemd/system/mountward.service" {
		t.Errorf("the unit is %q, want the installed one", got)
	}
	if got := property(t, service, "DropInPaths"); got != "" {
		t.Errorf("the unit has drop-ins: %s", got)
	}

	t.Run("has no capability and a filter", func(t *testing.T) {
		status := processStatus(t, mainPID(t))
		for _, name := range []string{"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"} {
			if got := status[name]; got != "0000000000000000" {
				t.Errorf("%s = %s, want none", name, got)
			}
		}
		for name, want := range map[string]string{"Uid": "0\t0\t0\t0", "NoNewPrivs": "1", "Seccomp": "2"} {
			if got := status[name]; got != want {
				t.Errorf("%s = %q, want %q", name, got, want)
			}
		}
	})

	t.Run("shares the mount namespace of pid 1 and containerd", func(t *testing.T) {
		ours, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/mnt", mainPID(t)))
		if err != nil {
			t.Fatal(err)
		}
		for _, pid := range []string{"1", property(t, "containerd.service", "MainPID")} {
			if theirs, err := os.Readlink("/proc/" + pid + "/ns/mnt"); err != nil || theirs != ours {
				t.Errorf("process %s is in %s, %v; mountward in %s", pid, theirs, err, ours)
			}
		}
	})

	t.Run("systemd rates it below 4.5", func(t *testing.T) {
		out, err := run("systemd-analyze", "security", "--no-pager", "--threshold=45", service)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(out), "\n")
		t.Log(lines[len(lines)-1])
	})

	t.Run("begins with the shipped policy", func(t *testing.T) {
		all, err := journal("MOUNTWARD_EVENT=policy-loaded", "_SYSTEMD_UNIT="+service)
		if err != nil || len(all) == 0 {
			t.Fatalf("%d records, %v", len(all), err)
		}
		if got := all[0].first("MOUNTWARD_POLICY") + " " + all[0].first("MOUNTWARD_MODE"); got != "/etc/mountward/policy.toml audit" {
			t.Errorf("policy and mode = %q", got)
		}
	})

	t.Run("says everything once", func(t *testing.T) {
		all, err := journal("_PID="+strconv.Itoa(mainPID(t)), "_TRANSPORT=stdout")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range all {
			t.Errorf("on its output as well: %s", e.first("MESSAGE"))
		}
	})

	t.Run("warns of nothing but a runtime that goes on without it", func(t *testing.T) {
		all, err := journal("_SYSTEMD_UNIT="+service, "PRIORITY=0", "PRIORITY=1", "PRIORITY=2", "PRIORITY=3", "PRIORITY=4")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range all {
			// Events have a priority of their own: a refusal is a warning. Tests
			// before this one enforced, and containerd requires no plugin here.
			message := e.first("MESSAGE")
			wanted := strings.HasPrefix(message, "NRI does not fail closed here") || strings.HasPrefix(message, "whether NRI fails closed here cannot be told")
			if e.first("MOUNTWARD_EVENT") == "" && !wanted {
				t.Errorf("priority %s: %s", e.first("PRIORITY"), message)
			}
		}
	})
}

// processStatus is /proc/PID/status.
func processStatus(t *testing.T, pid int) map[string]string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	status := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		status[name] = strings.TrimSpace(value)
	}
	return status
}
