//go:build linux

// Package guard_test proves mountward on a real containerd: what is decided is
// the kernel's state, in real containers.
package guard_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/ward"
)

func TestMain(m *testing.M) { harness.Main(m) }

// guard is a ward for a test.
type guard struct {
	*harness.Suite
	*ward.Ward
	tb testing.TB
}

// start runs mountward on a new node that ends with the test.
func start(tb testing.TB, o ward.Options) *guard {
	tb.Helper()
	w, cfg, err := ward.New(tb.TempDir(), o)
	if err != nil {
		tb.Fatal(err)
	}
	plugin := 0
	tb.Cleanup(func() { gone(tb, plugin) }) // after the node has ended
	s := harness.New(tb, cfg)
	w.Node = s.Node
	tb.Cleanup(func() { plugin, _ = w.PluginPID() }) // 0 where it does not run any more
	g := &guard{s, w, tb}
	tb.Cleanup(func() {
		if tb.Failed() {
			records, err := w.Records()
			for _, r := range records[max(0, len(records)-20):] {
				tb.Logf("trail: %s", r.Message())
			}
			if err != nil {
				tb.Log(err)
			}
		}
	})
	return g
}

// gone waits for the end of the plugin, of all its threads: its last records come
// after the end of containerd, into a directory that is removed with the test.
// Containerd does not wait for a plugin that was killed.
func gone(tb testing.TB, pid int) {
	tb.Helper()
	if pid <= 0 {
		return
	}
	process, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return
	}
	if err != nil {
		tb.Fatal(err)
	}
	defer unix.Close(process)
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(process), Events: unix.POLLIN}}, 1000)
		if err != nil && !errors.Is(err, unix.EINTR) {
			tb.Fatal(err)
		}
		if n > 0 {
			return
		}
	}
	tb.Errorf("mountward, process %d, does not end with containerd", pid)
}

// Restart is the node's, and waits for the end of the plugin that the old
// containerd launched: until then the new one stands aside for it.
func (g *guard) Restart() error {
	pid, _ := g.PluginPID() // 0 where it does not run any more
	err := g.Suite.Restart()
	gone(g.tb, pid)
	return err
}

// Kill9 is the node's, and waits in the same way.
func (g *guard) Kill9() error {
	pid, _ := g.PluginPID()
	err := g.Suite.Kill9()
	gone(g.tb, pid)
	return err
}

// in is the same guard for a subtest.
func (g *guard) in(tb testing.TB) *guard { return &guard{g.In(tb), g.Ward, tb} }

// await waits for a record of one kind about one container.
func (g *guard) await(event, container string) ward.Record {
	g.tb.Helper()
	r, err := g.Await(g.tb.Context(), 0, ward.Of(event, container))
	if err != nil {
		g.tb.Fatalf("%s of %s: %v", event, container, err)
	}
	return r
}

// never fails the test if there is such a record once the task record of the
// container, which comes last at a start, is there.
func (g *guard) never(event, container string) {
	g.tb.Helper()
	g.await("task", container)
	records, err := g.Records()
	if err != nil {
		g.tb.Fatal(err)
	}
	for _, r := range records {
		if r.Event() == event && r.ContainerID() == container {
			g.tb.Errorf("unexpected record: %s", r.Message())
		}
	}
}

// runOne runs a pod of one container that the test expects to start, and
// returns the container's id.
func (g *guard) runOne(pod harness.Pod) string {
	g.tb.Helper()
	name := pod.Containers[0].Name
	return g.Run(pod).Containers[name]
}

// tryOne runs a pod of one container that may be refused; what was made is
// removed with the test.
func (g *guard) tryOne(pod harness.Pod) (id string, err error) {
	g.tb.Helper()
	ctx := g.tb.Context()
	pod.Privileged = pod.Privileged || pod.Containers[0].Privileged
	container := pod.Containers[0]
	pod.Containers = nil
	sandbox, err := g.RunSandbox(ctx, pod)
	if err != nil {
		g.tb.Fatal(err)
	}
	g.tb.Cleanup(func() {
		if err := g.RemoveSandbox(g.tb.Context(), sandbox.ID); err != nil && !strings.Contains(err.Error(), "context canceled") {
			g.tb.Errorf("remove pod: %v", err)
		}
	})
	if id, err = g.CreateContainer(ctx, sandbox, container); err != nil {
		return "", err
	}
	return id, g.StartContainer(ctx, id)
}

// sees says whether a container sees the marker of a later mount below /data.
func (g *guard) sees(id, name string) bool {
	g.tb.Helper()
	_, err := g.Exec(g.tb.Context(), id, "cat", filepath.Join("/data", name, harness.Marker))
	if err != nil && !errors.Is(err, harness.ErrExec) {
		g.tb.Fatal(err)
	}
	return err == nil
}
