//go:build linux

package guard_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/ward"
)

// TestPinsWhilePodsStartAndStop: runc has a copy of the host's mounts for a moment
// in the namespace of each container that it makes. None of them is a culprit.
func TestPinsWhilePodsStartAndStop(t *testing.T) {
	dir := harness.TestHostDirs(t).Shared
	kubelet := filepath.Join(dir.Path, "kubelet")
	g := start(t, ward.Options{Policy: allowAll, Settings: fmt.Sprintf("host.kubelet_root = %q", kubelet)})
	p := pinsOf(t, g, g.settings(kubelet), kubelet)
	p.agent("steady", harness.None)
	want := []string{"mount container monitoring/steady/main", "mount host -"}
	const loops, each = 2, 10
	done := make(chan error, loops)
	for range loops {
		go func() {
			var errs []error
			for range each {
				s, err := g.RunPod(t.Context(), harness.Pod{Namespace: "churn", Containers: []harness.Container{{Name: "main"}}})
				if errs = append(errs, err); err == nil {
					errs = append(errs, g.RemoveSandbox(t.Context(), s.ID))
				}
			}
			done <- errors.Join(errs...)
		}()
	}
	asked, starting := 0, 0
	for running := loops; running > 0; {
		select {
		case err := <-done:
			if running--; err != nil {
				t.Error(err)
			}
			continue
		default:
		}
		got := p.asked(p.volume.Number)
		asked++
		got.Reports[0].Holders = slices.DeleteFunc(got.Reports[0].Holders, func(h pin) bool {
			flagged := strings.Contains(h.Why, "a container that is being started")
			if flagged {
				starting++
			}
			return flagged
		})
		if diff := cmp.Diff(want, got.holders()); diff != "" || got.code != 1 {
			t.Errorf("exit code %d: %s (-want +got):\n%s", got.code, got.stderr, diff)
			for _, h := range got.Reports[0].Holders {
				t.Logf("%s %s %+v: %s", h.Kind, h.Where, h.Processes, h.Why)
			}
		}
	}
	t.Logf("asked %d times while %d pods came and went; %d times of one that was still starting", asked, loops*each, starting)
}

// TestPinsRootFilesystems: a volume that containers have their root filesystems
// on is held by each of them, though none has it mounted.
func TestPinsRootFilesystems(t *testing.T) {
	dir := harness.TestHostDirs(t).Shared
	v, err := harness.NewVolume(filepath.Join(dir.Path, "var"))
	if err != nil {
		t.Fatal(err)
	}
	o := ward.Options{Policy: allowAll}
	o.Root = filepath.Join(v.Path, "containerd")
	g := start(t, o)
	p := &pinsNode{guard: g, t: t, settings: g.settings("/var/lib/kubelet"), volume: v}
	pod := g.Run(harness.Pod{Namespace: "prod", Name: "web-0", Containers: []harness.Container{{Name: "main"}}})
	layers := func() []string {
		got := p.ask(1, v.Number)
		return slices.DeleteFunc(got.holders(), func(h string) bool { return !strings.HasPrefix(h, "overlay-layer") })
	}
	want := []string{"overlay-layer container prod/web-0/main", "overlay-layer container prod/web-0/pause"}
	if diff := cmp.Diff(want, layers()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := g.StopContainer(t.Context(), pod.Containers["main"]); err != nil {
		t.Fatal(err)
	}
	if err := g.RemoveContainer(t.Context(), pod.Containers["main"]); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want[1:], layers()); diff != "" {
		t.Errorf("with one container less (-want +got):\n%s", diff)
	}
}
