package audit

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/verify"
	"github.com/mountward/mountward/pkg/volumes"
)

// A field that is added to an event and forgotten in its copy would let the
// record follow a later change.
func TestACopyIsEqualAndSharesNothing(t *testing.T) {
	t.Parallel()
	state := func() *facts.MountState { return &facts.MountState{Peer: 1} }
	container := testContainer()
	container.Pod.Labels, container.Pod.Annotations = map[string]string{"a": "b"}, nil
	findings := []facts.Finding{{Code: "x"}}
	events := []later{
		Missed{Container: container, Findings: findings, Outcomes: []facts.Outcome{{
			Audited: []string{"a"}, Shadow: []facts.Shadow{{Rule: "s"}}, Mount: facts.Mount{Options: []string{"rbind"}, Host: &facts.HostMount{Root: "/"}},
		}}},
		Decision{Container: container, Findings: findings, Outcomes: []facts.Outcome{{
			Audited: []string{"a"}, Shadow: []facts.Shadow{{Rule: "s"}}, Mount: facts.Mount{Options: []string{"rbind"}, Host: &facts.HostMount{Root: "/"}},
		}}},
		Leftover{Container: container, Mounts: []LeftoverMount{{Path: "/x", Backing: volumes.Backing{LVs: []string{"a/b"}}}}},
		Crash{Container: container, Panic: "boom", Stack: "goroutine 1"},
		Hazard{Container: container, Hazards: []facts.Hazard{{Code: "MW101", Destinations: []string{"/x"}}}},
		Drift{Container: container, Findings: findings, Proofs: []verify.Proof{{Seen: state(), Host: state()}}},
	}
	for _, event := range events {
		copied, size := event.copied()
		if diff := cmp.Diff(event, copied); diff != "" || size < perItem {
			t.Errorf("%T: %d bytes (-want +got):\n%s", event, size, diff)
		}
		apart(t, reflect.ValueOf(event), reflect.ValueOf(copied), reflect.TypeOf(event).String())
	}
}

// apart walks two equal values and wants no memory in both. What is empty in
// the sample would not be looked at.
func apart(t *testing.T, a, b reflect.Value, path string) {
	t.Helper()
	switch a.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		if a.IsNil() {
			if !strings.HasSuffix(path, ".Pod.Annotations") && !strings.HasSuffix(path, ".Storage") { // no part of any record
				t.Errorf("%s: empty in the sample", path)
			}
			return
		}
		if a.Pointer() == b.Pointer() {
			t.Errorf("%s: shared", path)
		}
	default:
	}
	switch a.Kind() {
	case reflect.Pointer:
		apart(t, a.Elem(), b.Elem(), path)
	case reflect.Slice:
		apart(t, a.Index(0), b.Index(0), path)
	case reflect.Struct:
		if a.Type() == reflect.TypeFor[time.Time]() { // never changes
			return
		}
		for i := range a.NumField() {
			apart(t, a.Field(i), b.Field(i), path+"."+a.Type().Field(i).Name)
		}
	default:
	}
}

func TestWhatIsRecordedLaterCountsInTheQueue(t *testing.T) {
	t.Parallel()
	gate := &gateSink{open: make(chan struct{})}
	trail := start([]*destination{{sink: gate}}, nil)
	task := Task{Container: testContainer(), Task: volumes.Task{Mounts: make([]volumes.Mount, queueBytes/perItem/10)}}
	for range 25 {
		trail.Record(task)
	}
	if held := trail.held.Load(); held == 0 || held > queueBytes {
		t.Errorf("%d bytes are held, want some and at most %d", held, queueBytes)
	}
	close(gate.open)
	closeTrail(t, trail)
	if sent, lost := trail.Stats(); sent+lost != 25 || lost == 0 {
		t.Errorf("sent %d, lost %d; want 25 together and some lost", sent, lost)
	}
	if held := trail.held.Load(); held != 0 {
		t.Errorf("%d bytes are held by an empty queue", held)
	}
}
