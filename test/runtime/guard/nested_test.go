//go:build linux

package guard_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/ward"
)

// TestNestedBidirectional: one Bidirectional mount in another doubles what is on
// the host at every start, before the container's own code runs. Each end tells
// of it.
func TestNestedBidirectional(t *testing.T) {
	dir := harness.TestHostDirs(t).Shared
	own := filepath.Join(dir.Path, "own")
	inner := filepath.Join(own, "plugins")
	if err := os.MkdirAll(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	g := start(t, ward.Options{Policy: "version = 1\nmode = \"enforce\"\ndefault = \"allow\"\n"})
	pod := harness.Pod{Name: "driver", Containers: []harness.Container{{
		Name: "main", Privileged: true,
		Mounts: []harness.ContainerMount{
			{HostPath: own, ContainerPath: "/data", Propagation: harness.Bidirectional},
			{HostPath: inner, ContainerPath: "/data/plugins", Propagation: harness.Bidirectional},
		},
	}}}
	var ids []string
	for range 2 {
		s := g.Run(pod)
		ids = append(ids, s.Containers["main"])
		if err := g.RemoveSandbox(t.Context(), s.ID); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []string{"made", "doubled"} {
		if got := g.left(ids[i])[inner]; got != want {
			t.Errorf("run %d left %q at %s, want %q", i+1, got, inner, want)
		}
	}
	for mounted := true; mounted; {
		err := unix.Unmount(inner, unix.MNT_DETACH)
		mounted = err == nil
	}
}
