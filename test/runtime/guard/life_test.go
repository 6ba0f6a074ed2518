//go:build linux

package guard_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
	"golang.org/x/sys/unix"

	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/matrix"
	"github.com/mountward/mountward/test/runtime/ward"
)

// podIn is a pod of one container that mounts a directory at /data.
func podIn(namespace, dir string) harness.Pod {
	pod := one(dir)
	pod.Namespace = namespace
	return pod
}

// missed returns the ids of the containers that were told of as missed.
func (s *service) missed(from int) []string {
	s.tb.Helper()
	all, err := s.Records()
	if err != nil {
		s.tb.Fatal(err)
	}
	var ids []string
	for _, r := range all[from:] {
		if r.Event() == "missed" {
			ids = append(ids, r.ContainerID())
		}
	}
	slices.Sort(ids)
	return ids
}

// entries returns the ids of the containers with an entry.
func (g *guard) entries() []string {
	g.tb.Helper()
	files, err := os.ReadDir(filepath.Join(g.Dir, "run", "containers"))
	if err != nil {
		g.tb.Fatal(err)
	}
	var ids []string
	for _, f := range files {
		if id, ok := strings.CutSuffix(f.Name(), ".json"); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

func sorted(ids ...string) []string {
	slices.Sort(ids)
	return ids
}

// TestWhatWasCreatedUnseenIsToldOnce: exactly that, over the death of the
// plugin, of containerd and of both.
func TestWhatWasCreatedUnseenIsToldOnce(t *testing.T) {
	dir := harness.TestHostDirs(t).Shared.Path
	s := startService(t, matrix.Policy)
	s.says(0, "synchronized with the runtime")
	seen := s.runOne(podIn("set-rslave", dir))
	s.await("task", seen)

	s.crash()
	changed := s.runOne(podIn("set-rslave", dir))
	denied := s.runOne(podIn("deny", dir))
	plain := s.runOne(podIn("other", dir))
	from := s.records()
	s.launch()
	s.says(from, "synchronized with the runtime", "proved=1", "missed=3")
	if got, want := s.missed(0), sorted(changed, denied, plain); !slices.Equal(got, want) {
		t.Errorf("missed %v, want %v", got, want)
	}
	for id, want := range map[string]string{
		changed: `would set /data rprivate -> rslave`,
		denied:  `would refuse`,
		plain:   "would have changed nothing",
	} {
		if r := s.await("missed", id); !strings.Contains(r.Message(), want) {
			t.Errorf("%q, want %q", r.Message(), want)
		}
	}
	if got, want := s.entries(), sorted(seen, changed, denied, plain); !slices.Equal(got, want) {
		t.Errorf("entries %v, want %v", got, want)
	}

	// containerd is restarted; all are proved, and nothing is told again.
	from = s.records()
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	s.says(from, "synchronized with the runtime", "proved=4", "missed=0")

	// Both die.
	s.crash()
	if err := s.Kill9(); err != nil {
		t.Fatal(err)
	}
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	both := s.runOne(podIn("set-rslave", dir))
	from = s.records()
	s.launch()
	s.says(from, "synchronized with the runtime", "proved=4", "missed=1")
	if got := s.missed(from); !slices.Equal(got, []string{both}) {
		t.Errorf("missed %v, want %s", got, both)
	}
	s.never("drift", seen)
	if _, err := s.tryOne(podIn("deny", dir)); err == nil || !strings.Contains(err.Error(), `rule "denied"`) {
		t.Errorf("error = %v, want our refusal", err)
	}
}

// TestTheFirstStartIsOneRecord: nobody missed what ran before.
func TestTheFirstStartIsOneRecord(t *testing.T) {
	dir := harness.TestHostDirs(t).Shared.Path
	s := newService(t, ward.Options{Policy: matrix.Policy, Config: harness.Config{NoLaunch: true}})
	var ids []string
	for _, namespace := range []string{"set-rslave", "set-rslave", "deny", "other"} {
		ids = append(ids, s.runOne(podIn(namespace, dir)))
	}
	s.launch()
	s.says(0, "synchronized with the runtime", "missed=4")
	r, err := s.Await(t.Context(), 0, func(r ward.Record) bool { return r.Event() == "first-start" })
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{"would_refuse": 1, "would_change": 2, "would_leave": 0, "noted": 0, "cannot_tell": 0} {
		if got := r.At(name, "count"); got != want {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
	if got := r.At("running"); got != 4.0 {
		t.Errorf("running = %v", got)
	}
	s.crash()
	from := s.records()
	s.launch()
	s.says(from, "synchronized with the runtime", "proved=4", "missed=0")
	if got := s.missed(0); got != nil {
		t.Errorf("missed %v", got)
	}
	if got := s.entries(); !slices.Equal(got, sorted(ids...)) {
		t.Errorf("entries %v, want %v", got, ids)
	}
}

// TestCreatedUnseenAndStartedInSight: it does not start with more than the
// policy allows; the kubelet creates it anew then.
func TestCreatedUnseenAndStartedInSight(t *testing.T) {
	dir := harness.TestHostDirs(t).Shared.Path
	s := startService(t, matrix.Policy)
	s.says(0, "synchronized with the runtime")
	for _, test := range []struct {
		namespace string
		asked     harness.Propagation
		refused   string
	}{
		{"deny", harness.None, "not here"},
		{"set-rprivate", harness.HostToContainer, "created unseen"},
		{"set-rslave", harness.Bidirectional, "created unseen"},
		{"set-rslave", harness.None, ""},
		{"other", harness.Bidirectional, ""},
	} {
		t.Run(fmt.Sprintf("%s asked %d", test.namespace, test.asked), func(t *testing.T) {
			s.crash()
			pod := podIn(test.namespace, dir)
			container := pod.Containers[0]
			container.Mounts[0].Propagation = test.asked
			container.Privileged = true
			pod.Privileged, pod.Containers = true, nil
			sandbox, err := s.RunSandbox(t.Context(), pod)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := s.RemoveSandbox(context.WithoutCancel(t.Context()), sandbox.ID); err != nil {
					t.Error(err)
				}
			}()
			id, err := s.CreateContainer(t.Context(), sandbox, container)
			if err != nil {
				t.Fatal(err)
			}
			from := s.records()
			s.launch()
			s.says(from, "synchronized with the runtime", "missed=0")
			err = s.StartContainer(t.Context(), id)
			if test.refused == "" && err != nil || test.refused != "" && (err == nil || !strings.Contains(err.Error(), test.refused)) {
				t.Fatalf("start: %v, want %q", err, test.refused)
			}
			if r := s.await("missed", id); strings.HasPrefix(r.Message(), "refused the start") != (test.refused != "") {
				t.Errorf("record %q", r.Message())
			}
			if test.refused == "" {
				return
			}
			container.Attempt++
			again, err := s.CreateContainer(t.Context(), sandbox, container)
			switch {
			case test.namespace == "deny" && err == nil:
				t.Error("created anew against the policy")
			case test.namespace != "deny":
				if err == nil {
					err = s.StartContainer(t.Context(), again)
				}
				if err != nil {
					t.Errorf("created anew: %v", err)
				}
			}
		})
	}
}

// TestTwoInstancesOfOneName: launched by containerd and a service besides.
func TestTwoInstancesOfOneName(t *testing.T) {
	dir := harness.TestHostDirs(t).Shared.Path
	s := newService(t, ward.Options{Policy: matrix.Policy})
	s.says(0, "synchronized with the runtime")
	launched, err := s.PluginPID()
	if err != nil {
		t.Fatal(err)
	}
	s.launch()
	s.says(0, "standing aside", fmt.Sprintf("process %d", launched))
	if _, err := s.Await(t.Context(), 0, func(r ward.Record) bool {
		return r.Event() == "connection" && r.At("state") == "connected" && r.At("runtime_pid") != nil && strings.Contains(r.Message(), "connected")
	}); err != nil {
		t.Fatal(err)
	}
	waitConnected(t, s, 2)

	decided := func() string {
		t.Helper()
		id := s.runOne(podIn("set-rslave", dir))
		if got := s.Table(id).At("/data").Propagation(); got != "private,slave" {
			t.Errorf("propagation = %s", got)
		}
		if _, err := s.tryOne(podIn("deny", dir)); err == nil || !strings.Contains(err.Error(), `rule "denied"`) {
			t.Errorf("error = %v, want our refusal", err)
		}
		s.await("task", id)
		return id
	}
	first := decided()
	count := func(event, id string) (n int) {
		all, err := s.Records()
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range all {
			if r.Event() == event && r.ContainerID() == id {
				n++
			}
		}
		return n
	}
	for _, event := range []string{"decision", "task"} {
		if got := count(event, first); got != 1 {
			t.Errorf("%d %s records, want 1", got, event)
		}
	}

	if err := unix.Kill(launched, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	from := s.records()
	// containerd notices with the next request, which it may refuse for it.
	_, err = s.tryOne(podIn("deny", dir))
	if err == nil {
		t.Error("a denied container was created when the one that decided had died")
	}
	s.says(0, "took over")
	second := decided()
	s.says(from, "synchronized with the runtime", "missed=0")
	for _, event := range []string{"missed", "drift"} {
		if got := count(event, first) + count(event, second); got != 0 {
			t.Errorf("%d %s records", got, event)
		}
	}
	if got := s.entries(); !slices.Contains(got, first) || !slices.Contains(got, second) {
		t.Errorf("entries %v", got)
	}
}

// waitConnected waits for n plugins that containerd has synchronized.
func waitConnected(t *testing.T, s *service, n int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		all, err := s.Records()
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		for _, r := range all {
			if r.Event() == "connection" && r.At("state") == "connected" {
				got++
			}
		}
		if got >= n {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d instances are connected, want %d", got, n)
		}
	}
}

// TestRemovalAfterARestart: containerd sends no events of the pods from before
// its restart, and of a forced removal in another order. Nothing is kept all
// the same.
func TestRemovalAfterARestart(t *testing.T) {
	dir := harness.TestHostDirs(t).Shared.Path
	s := startService(t, matrix.Policy)
	s.says(0, "synchronized with the runtime")
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
	s.says(from, "synchronized with the runtime", "proved=2")
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
type afterStart struct{ asked chan string }

func (p *afterStart) PostStartContainer(_ context.Context, _ *api.PodSandbox, c *api.Container) error {
	p.asked <- c.GetId()
	return fmt.Errorf("not after the start")
}

// TestOnlyAnErrorBeforeTheStartStopsAContainer: why we refuse at StartContainer
// and nowhere later.
func TestOnlyAnErrorBeforeTheStartStopsAContainer(t *testing.T) {
	dir := harness.TestHostDirs(t).Shared.Path
	s := startService(t, matrix.Policy)
	s.says(0, "synchronized with the runtime")
	other := &afterStart{make(chan string, 4)}
	plugin, err := stub.New(other, stub.WithPluginName("after"), stub.WithPluginIdx("95"), stub.WithSocketPath(s.NRISocket))
	if err != nil {
		t.Fatal(err)
	}
	if err := plugin.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer plugin.Stop()
	time.Sleep(100 * time.Millisecond) // it takes part once it is synchronized
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
	s.says(from, "synchronized with the runtime")
	if err := s.StartContainer(t.Context(), id); err == nil || !strings.Contains(err.Error(), `rule "denied"`) {
		t.Fatalf("start: %v", err)
	}
	if _, err := s.Exec(t.Context(), id, "cat", "/proc/self/comm"); err == nil {
		t.Error("a container whose start was refused runs")
	}
}

// TestReconnectingLeaksNothing in the daemon: descriptors and threads are as
// many after the last restart of containerd as after the first.
func TestReconnectingLeaksNothing(t *testing.T) {
	s := startService(t, matrix.Policy)
	s.says(0, "synchronized with the runtime")
	open := func() int {
		t.Helper()
		files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.cmd.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		return len(files)
	}
	var before int
	for n := range 6 {
		from := s.records()
		if err := s.Restart(); err != nil {
			t.Fatal(err)
		}
		s.says(from, "synchronized with the runtime")
		if n == 0 {
			before = open()
		}
	}
	for end := time.Now().Add(time.Minute); open() > before; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d descriptors, %d after the first restart", open(), before)
		}
	}
}
