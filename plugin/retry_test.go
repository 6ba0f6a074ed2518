package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestRetry: to find nobody costs nothing and is tried again at once, a failed
// registration is not, and who was connected starts anew.
func TestRetry(t *testing.T) {
	type step struct {
		outcome outcome
		passed  time.Duration // since the step before
		held    time.Duration
		peer    int
	}
	type answer struct {
		Pause time.Duration
		News  bool
	}
	quick := func(news bool) answer { return answer{dialPause, news} }
	for _, test := range []struct {
		name  string
		steps []step
		want  []answer
	}{
		{
			"nobody listens: always soon, said at first and then every 30 s",
			[]step{{unreachable, 0, 0, 1}, {unreachable, dialPause, 0, 1}, {unreachable, 29 * time.Second, 0, 1}, {unreachable, time.Second, 0, 1}, {unreachable, dialPause, 0, 1}},
			[]answer{quick(true), quick(false), quick(false), quick(true), quick(false)},
		},
		{
			"a failed registration backs off",
			[]step{{unregistered, 0, 0, 1}, {unregistered, 0, 0, 1}, {unregistered, 0, 0, 1}, {unregistered, 0, 0, 1}, {unregistered, 0, 0, 1}, {unregistered, 0, 0, 1}, {unregistered, 0, 0, 1}},
			[]answer{{time.Second, true}, {2 * time.Second, true}, {4 * time.Second, true}, {8 * time.Second, true}, {16 * time.Second, true}, {lastPause, true}, {lastPause, true}},
		},
		{
			"also when nobody listens between two",
			[]step{{unregistered, 0, 0, 1}, {unreachable, 0, 0, 1}, {unregistered, 0, 0, 1}},
			[]answer{{time.Second, true}, quick(true), {2 * time.Second, true}},
		},
		{
			"restarts of the runtime close together",
			[]step{{served, 0, 0, 1}, {unreachable, 0, 0, 1}, {unreachable, 0, 0, 1}, {served, 0, 0, 1}, {unreachable, 0, 0, 1}, {served, 0, 0, 1}},
			[]answer{quick(true), quick(true), quick(false), quick(true), quick(true), quick(true)},
		},
		{
			"a runtime that drops us again and again is not registered with in a tight loop",
			[]step{{served, 0, 0, 1}, {served, 0, 0, 1}, {served, 0, 0, 1}, {served, 0, lasting - 1, 1}, {served, 0, 0, 1}, {served, 0, 0, 1}, {served, 0, 0, 1}, {served, 0, lasting, 1}, {served, 0, 0, 1}},
			[]answer{quick(true), quick(true), quick(true), quick(true), quick(true), {time.Second, true}, {2 * time.Second, true}, quick(true), quick(true)},
		},
		{
			"a runtime that is restarted again and again is another one each time",
			[]step{{served, 0, 0, 1}, {served, 0, 0, 2}, {served, 0, 0, 3}, {served, 0, 0, 4}, {unregistered, 0, 0, 5}, {unregistered, 0, 0, 6}, {served, 0, 0, 7}, {served, 0, 0, 8}, {served, 0, 0, 9}},
			[]answer{quick(true), quick(true), quick(true), quick(true), {time.Second, true}, {time.Second, true}, quick(true), quick(true), quick(true)},
		},
		{
			"who was synchronized starts anew",
			[]step{{unregistered, 0, 0, 1}, {unregistered, 0, 0, 1}, {served, 0, 0, 1}, {unregistered, 0, 0, 1}},
			[]answer{{time.Second, true}, {2 * time.Second, true}, quick(true), {time.Second, true}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var r retry
			now := time.Unix(0, 0)
			var got []answer
			for _, s := range test.steps {
				now = now.Add(s.passed)
				pause, news := r.after(s.outcome, s.peer, s.held, now)
				got = append(got, answer{pause, news})
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("pauses (-want +got):\n%s", diff)
			}
		})
	}
}

func TestJitterStaysNearThePause(t *testing.T) {
	seen := map[time.Duration]bool{}
	for range 1000 {
		got := jitter(lastPause)
		if got < lastPause/2 || got >= lastPause*3/2 {
			t.Fatalf("%s of %s", got, lastPause)
		}
		seen[got] = true
	}
	if len(seen) < 100 {
		t.Errorf("only %d pauses of 1000", len(seen))
	}
}
