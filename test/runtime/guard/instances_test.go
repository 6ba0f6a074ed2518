//go:build linux

package guard_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/matrix"
	"github.com/mountward/mountward/test/runtime/ward"
)

// TestTwoInstancesOfOneName: launched by containerd and a service besides.
func TestTwoInstancesOfOneName(t *testing.T) {
	dir := harness.TestHostDirs(t).Shared.Path
	s := newService(t, ward.Options{Policy: matrix.Policy})
	s.says(0, ward.Synchronized)
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

	from := s.records()
	if err := unix.Kill(launched, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	gone(t, launched)
	// containerd notices with the next request, which it may refuse for it.
	_, err = s.tryOne(podIn("deny", dir))
	if err == nil {
		t.Error("a denied container was created when the one that decided had died")
	}
	s.says(0, "took over")
	second := decided()
	s.says(from, ward.Synchronized, "missed=0")
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
