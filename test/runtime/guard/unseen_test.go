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
	s.says(0, ward.Synchronized)
	seen := s.runOne(podIn("set-rslave", dir))
	s.await("task", seen)

	s.crash()
	changed := s.runOne(podIn("set-rslave", dir))
	denied := s.runOne(podIn("deny", dir))
	plain := s.runOne(podIn("other", dir))
	from := s.records()
	s.launch()
	s.says(from, ward.Synchronized, "proved=1", "missed=3")
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
	s.says(from, ward.Synchronized, "proved=4", "missed=0")

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
	s.says(from, ward.Synchronized, "proved=4", "missed=1")
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
	s.says(0, ward.Synchronized, "missed=4")
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
	s.says(from, ward.Synchronized, "proved=4", "missed=0")
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
	s.says(0, ward.Synchronized)
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
			s.says(from, ward.Synchronized, "missed=0")
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
