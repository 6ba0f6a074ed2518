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

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"

	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/matrix"
	"github.com/mountward/mountward/test/runtime/ward"
)

// TestRemovalAfterARestart: containerd sends no events of the pods from before
// its restart, and of a forced removal in another order. Nothing is kept all
// the same.
func TestRemovalAfterARestart(t *testing.T) {
	dir := harness.TestHostDirs(t).Shared.Path
	s := startService(t, matrix.Policy)
	s.says(0, ward.Synchronized)
	run := func() (*harness.Sandbox, string) {
		t.Helper()
		sandbox, err := s.RunPod(t.Context(), podIn("set-rslave", dir))
		if err != nil {
			t.Fatal(err)
		}
		id := sandbox.Containers["main"]
		s.await("task", id)
		return sandbox, id
	}
	gone := func(ids ...string) {
		t.Helper()
		for _, id := range ids {
			if _, err := os.Stat(filepath.Join(s.Dir, "run", "containers", id+".json")); err == nil || !os.IsNotExist(err) {
				t.Errorf("entry of %s: %v", id, err)
			}
		}
	}
	forced, forcedID := run()
	if err := s.RemoveSandbox(t.Context(), forced.ID); err != nil { // with its container running
		t.Error(err)
	}
	gone(forcedID)

	old, oldID := run()
	stopped, stoppedID := run()
	from := s.records()
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	s.says(from, ward.Synchronized, "proved=2")
	if err := s.StopContainer(t.Context(), stoppedID); err != nil {
		t.Error(err)
	}
	for _, pod := range []*harness.Sandbox{old, stopped} {
		if err := s.RemoveSandbox(t.Context(), pod.ID); err != nil {
			t.Error(err)
		}
	}
	gone(oldID, stoppedID)
	if got := s.entries(); len(got) != 0 {
		t.Errorf("entries %v", got)
	}
	all, err := s.Records()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		if r.Event() == "drift" || r.Event() == "crash" || r.Event() == "missed" {
			t.Errorf("unexpected record: %s", r.Message())
		}
	}
}

// afterStart is a plugin that fails what comes after a start.
type afterStart struct {
	part  chan struct{} // closed when it takes part
	asked chan string
}

func (p *afterStart) Synchronize(context.Context, []*api.PodSandbox, []*api.Container) ([]*api.ContainerUpdate, error) {
	close(p.part)
	return nil, nil
}

func (p *afterStart) PostStartContainer(_ context.Context, _ *api.PodSandbox, c *api.Container) error {
	p.asked <- c.GetId()
	return fmt.Errorf("not after the start")
}

// TestOnlyAnErrorBeforeTheStartStopsAContainer: why we refuse at StartContainer
// and nowhere later.
func TestOnlyAnErrorBeforeTheStartStopsAContainer(t *testing.T) {
	dir := harness.TestHostDirs(t).Shared.Path
	s := startService(t, matrix.Policy)
	s.says(0, ward.Synchronized)
	other := &afterStart{make(chan struct{}), make(chan string, 4)}
	plugin, err := stub.New(other, stub.WithPluginName("after"), stub.WithPluginIdx("95"), stub.WithSocketPath(s.NRISocket))
	if err != nil {
		t.Fatal(err)
	}
	if err := plugin.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer plugin.Stop()
	select {
	case <-other.part:
	case <-time.After(time.Minute):
		t.Fatal("the other plugin is not synchronized")
	}
	id := s.runOne(podIn("other", dir))
	if got := <-other.asked; got != id {
		t.Errorf("asked about %s", got)
	}
	if out := s.Output(id, "cat", "/proc/self/comm"); out == "" {
		t.Error("the container does not run")
	}

	s.crash()
	pod := podIn("deny", dir)
	container := pod.Containers[0]
	pod.Containers = nil
	sandbox, err := s.RunSandbox(t.Context(), pod)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.RemoveSandbox(context.WithoutCancel(t.Context()), sandbox.ID); err != nil {
			t.Error(err)
		}
	}()
	if id, err = s.CreateContainer(t.Context(), sandbox, container); err != nil {
		t.Fatal(err)
	}
	from := s.records()
	s.launch()
	s.says(from, ward.Synchronized)
	if err := s.StartContainer(t.Context(), id); err == nil || !strings.Contains(err.Error(), `rule "denied"`) {
		t.Fatalf("start: %v", err)
	}
	if _, err := s.Exec(t.Context(), id, "cat", "/proc/self/comm"); err == nil {
		t.Error("a container whose start was refused runs")
	}
}
