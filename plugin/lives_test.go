package main

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/leftover"
)

// TestWhoSharesPathsWhenOneEnds: those that have not ended, at its first end.
func TestWhoSharesPathsWhenOneEnds(t *testing.T) {
	l := newLives(time.Now)
	for _, id := range []string{"one", "two", "three"} {
		l.change(facts.Container{ID: id}, func(now *life) { now.shared = []string{"/mnt/" + id} })
	}
	ends := func(id string, first bool, others ...string) {
		t.Helper()
		now, is := l.end(facts.Container{ID: id})
		slices.Sort(now.others)
		if diff := cmp.Diff(others, now.others); diff != "" || is != first || !now.ended {
			t.Errorf("%s ends, first %v: %s", id, is, diff)
		}
	}
	ends("one", true, "/mnt/three", "/mnt/two")
	ends("two", true, "/mnt/three")
	ends("one", false, "/mnt/three", "/mnt/two")
	ends("three", true)
	ends("unknown", true)
}

// TestLivesAreKeptWhileTheListMayBeTooOld: what is not listed is forgotten, but
// for what began while the list was made.
func TestLivesAreKeptWhileTheListMayBeTooOld(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	l := newLives(func() time.Time { return now })
	nothing := func(*life) {}
	l.change(facts.Container{ID: "old"}, nothing)
	l.change(facts.Container{ID: "listed"}, nothing)
	now = now.Add(2 * syncGrace)
	l.change(facts.Container{ID: "young"}, nothing)
	l.keep(map[string]bool{"listed": true})
	for id, want := range map[string]bool{"old": false, "listed": true, "young": true} {
		if _, got := l.get(id); got != want {
			t.Errorf("%s is known: %v, want %v", id, got, want)
		}
	}
}

// TestAMountIsToldOnce: by whichever container, until it is another or an hour
// has gone by.
func TestAMountIsToldOnce(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	l := newLives(func() time.Time { return now })
	mount := func(code, at string, count int) leftover.Mount {
		return leftover.Mount{Entry: hostview.Entry{MountPoint: at}, Code: code, Count: count}
	}
	for _, test := range []struct {
		after time.Duration
		mount leftover.Mount
		want  bool
	}{
		{0, mount(leftover.DeadPod, "/a", 1), true},
		{time.Minute, mount(leftover.DeadPod, "/a", 1), false},
		{0, mount(leftover.DeadPod, "/b", 1), true},
		{0, mount(leftover.Doubled, "/a", 2), true},
		{0, mount(leftover.Doubled, "/a", 4), true},
		{toldFor, mount(leftover.DeadPod, "/a", 1), true},
	} {
		now = now.Add(test.after)
		if got := l.tell(test.mount); got != test.want {
			t.Errorf("%s %s x%d is news: %v, want %v", test.mount.Code, test.mount.MountPoint, test.mount.Count, got, test.want)
		}
	}
	for i := range 2 * maxTold {
		l.tell(mount(leftover.Made, "/many", i))
	}
	if len(l.told) > maxTold {
		t.Errorf("%d are remembered", len(l.told))
	}
}
