//go:build linux

package guard_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/ward"
)

// endPatience is longer than mountward gives an ended container's mounts.
const endPatience = time.Minute

// left waits for the record of what a container left, and returns path: code.
func (g *guard) left(id string) map[string]string {
	g.tb.Helper()
	ctx, cancel := context.WithTimeout(g.tb.Context(), endPatience)
	defer cancel()
	for {
		records, err := g.Records()
		if err != nil {
			g.tb.Fatal(err)
		}
		found := map[string]string{}
		for _, r := range records {
			if r.Event() != "leftover" || r.ContainerID() != id {
				continue
			}
			mounts, _ := r["mounts"].([]any)
			for i := range mounts {
				path, _ := r.At("mounts", i, "path").(string)
				found[path], _ = r.At("mounts", i, "code").(string)
			}
		}
		if len(found) > 0 {
			return found
		}
		select {
		case <-ctx.Done():
			g.tb.Fatalf("no leftover record of %s", id)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// TestLeftover: of a container that has ended, the trail tells what is still
// mounted that nobody else can be in charge of, and nothing is unmounted. What
// looks alike and is not is not told: a container that cleaned up, one whose
// pod lives on, what the host mounted while nobody shared it.
func TestLeftover(t *testing.T) {
	dir := harness.TestHostDirs(t).Shared
	kubelet := filepath.Join(dir.Path, "kubelet")
	own := filepath.Join(dir.Path, "own")
	for _, d := range []string{kubelet, own} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	g := start(t, ward.Options{
		Policy:   "version = 1\nmode = \"enforce\"\ndefault = \"allow\"\n",
		Settings: fmt.Sprintf("host.kubelet_root = %q", kubelet),
	})
	ctx := t.Context()
	remove := func(s *harness.Sandbox) {
		t.Helper()
		if err := g.RemoveSandbox(ctx, s.ID); err != nil {
			t.Fatal(err)
		}
	}
	shares := func(name, path string) *harness.Sandbox {
		t.Helper()
		return g.Run(harness.Pod{Name: name, Containers: []harness.Container{{
			Privileged: true,
			Mounts:     []harness.ContainerMount{{HostPath: path, ContainerPath: "/data", Propagation: harness.Bidirectional}},
		}}})
	}
	volume := func(pod harness.Pod) (target string) {
		t.Helper()
		target = filepath.Join(kubelet, "pods", pod.UID, "volumes/kubernetes.io~csi/pvc-1/mount")
		if err := os.MkdirAll(target, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := unix.Mount("volume", target, "tmpfs", 0, ""); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := unix.Unmount(target, 0); err != nil {
				t.Errorf("%s was not left mounted: %v", target, err)
			}
		})
		return target
	}

	// Three that leave nothing, before the ones that do: when those are told of,
	// these have been looked at.
	tidy := shares("tidy", own)
	g.Output(tidy.Containers["main"], "mkdir", "/data/passing")
	g.Output(tidy.Containers["main"], "mount-tmpfs", "/data/passing")
	g.Output(tidy.Containers["main"], "umount", "/data/passing")
	remove(tidy)
	lives := harness.Pod{Name: "lives", UID: "4c000000-0000-4000-8000-000000000001", Containers: []harness.Container{{Name: "main"}, {Name: "side"}}}
	volume(lives)
	alive := g.Run(lives)
	if err := g.StopContainer(ctx, alive.Containers["side"]); err != nil {
		t.Fatal(err)
	}
	if err := g.RemoveContainer(ctx, alive.Containers["side"]); err != nil {
		t.Fatal(err)
	}
	sees := g.Run(harness.Pod{Name: "sees", Containers: []harness.Container{{
		Mounts: []harness.ContainerMount{{HostPath: own, ContainerPath: "/data", Propagation: harness.HostToContainer}},
	}}})
	if _, err := dir.MountBelow("own/by-the-host"); err != nil {
		t.Fatal(err)
	}
	remove(sees)

	maker := shares("maker", own)
	g.Output(maker.Containers["main"], "mkdir", "/data/made")
	g.Output(maker.Containers["main"], "mount-tmpfs", "/data/made")
	remove(maker)
	dead := harness.Pod{Name: "dead", UID: "4c000000-0000-4000-8000-000000000002", Containers: []harness.Container{{Name: "main"}}}
	target := volume(dead)
	ended := g.Run(dead)
	remove(ended)

	if got := g.left(maker.Containers["main"]); len(got) != 1 || got[filepath.Join(own, "made")] != "made" {
		t.Errorf("the maker left %v, want %s/made", got, own)
	}
	if got := g.left(ended.Containers["main"]); len(got) != 1 || got[target] != "dead-pod" {
		t.Errorf("the dead pod left %v, want %s", got, target)
	}
	records, err := g.Records()
	if err != nil {
		t.Fatal(err)
	}
	told, mapped := map[string]int{}, map[string]bool{}
	for _, r := range records {
		if r.Event() == "leftover" {
			told[r.ContainerID()]++
		}
		if mounts, _ := r["mounts"].([]any); r.Event() == "task" && len(mounts) > 0 {
			mapped[r.ContainerID()] = true
		}
		if r.Event() == "leftover" && !strings.Contains(r.Message(), "left 1 mount on the host") {
			t.Errorf("message %q", r.Message())
		}
	}
	for name, s := range map[string]*harness.Sandbox{"tidy": tidy, "lives": alive, "sees": sees} {
		for container, id := range s.Containers {
			if told[id] > 0 {
				t.Errorf("container %s of pod %s is told to have left something", container, name)
			}
		}
	}
	if len(told) != 2 {
		t.Errorf("records of %v, want one of each of two containers", told)
	}
	for _, s := range []*harness.Sandbox{tidy, maker, ended} {
		if !mapped[s.Containers["main"]] {
			t.Errorf("the map of pod %s is not in the trail any more", s.Pod.Name)
		}
	}
	for _, at := range []string{filepath.Join(own, "made"), target} {
		if ok, err := harness.Mounted(at); err != nil || !ok {
			t.Errorf("%s is mounted: %v, %v; want that nobody unmounted it", at, ok, err)
		}
	}
}
