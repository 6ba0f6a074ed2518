//go:build linux

package guard_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/matrix"
	"github.com/mountward/mountward/test/runtime/ward"
)

// TestTheKubeletSharesItsRootAfterUs: a raise that could not be made true is made
// from then on, and the trail says what has changed on the host, once.
func TestTheKubeletSharesItsRootAfterUs(t *testing.T) {
	root := harness.TestHostDirs(t).Private.Path
	plain := filepath.Join(root, "plain") // a directory that the kubelet mounts on itself
	for _, dir := range []string{plain} {
		if err := unix.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s := newService(t, ward.Options{
		Policy: matrix.Policy, Config: harness.Config{NoLaunch: true},
		Settings: fmt.Sprintf("host.kubelet_root = %q\nhost.require_shared = [%q]", plain, root),
	})
	s.launch()
	s.says(0, ward.Synchronized)
	s.says(0, "the kubelet root "+plain+" is not shared in the runtime's namespace")

	left := s.runOne(podIn("set-rslave", plain))
	if got := s.Table(left).At("/data").Propagation(); got != "private" {
		t.Errorf("propagation = %s, want private: the host's is", got)
	}
	hosts := func(path string) (states []string) {
		all, err := s.Records()
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range all {
			if r.Event() == "host" && r.At("path") == path {
				states = append(states, fmt.Sprint(r.At("shared")))
			}
		}
		return states
	}
	told := func(path string, shared bool) {
		t.Helper()
		_, err := s.Await(t.Context(), 0, func(r ward.Record) bool {
			return r.Event() == "host" && r.At("path") == path && r.At("shared") == shared
		})
		if err != nil {
			t.Fatalf("%s shared %t: %v", path, shared, err)
		}
	}

	if err := unix.Mount(plain, plain, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("", plain, "", unix.MS_SHARED|unix.MS_REC, ""); err != nil {
		t.Fatal(err)
	}
	told(plain, true)
	raised := s.runOne(podIn("set-rslave", plain))
	if got := s.Table(raised).At("/data").Propagation(); got != "private,slave" {
		t.Errorf("propagation = %s, want private,slave", got)
	}
	s.never("drift", raised)

	// Of a change of propagation alone the kernel tells nothing.
	if err := unix.Mount("", root, "", unix.MS_SHARED, ""); err != nil {
		t.Fatal(err)
	}
	told(root, true)
	if err := unix.Mount("", root, "", unix.MS_PRIVATE, ""); err != nil {
		t.Fatal(err)
	}
	told(root, false)
	for path, want := range map[string]string{plain: "[true]", root: "[true false]"} {
		if got := fmt.Sprint(hosts(path)); got != want {
			t.Errorf("%s: told %s, want %s", path, got, want)
		}
	}
}
