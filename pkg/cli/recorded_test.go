package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/volumes"
)

// TestWhatRunsInPodsIsTaken: what was decided about a container is counted, and what
// could not be read of it is said; no sandbox is taken, none that has ended, and
// none of another client of containerd.
func TestWhatRunsInPodsIsTaken(t *testing.T) {
	t.Parallel()
	outcome := func(destination string, result facts.Result, would bool) facts.Outcome {
		return facts.Outcome{Mount: facts.Mount{Type: "bind", Source: "/srv", Destination: destination}, Result: result, Would: would}
	}
	app := volumes.Member{
		Container: facts.Container{ID: "c1", Name: "app", Pod: facts.Pod{Namespace: "prod", Name: "web-0"}},
		Namespace: kubernetes, Known: true,
		Outcomes: []facts.Outcome{
			outcome("/a", facts.Applied, false), outcome("/b", facts.Unchanged, false), outcome("/c", facts.Applied, true), outcome("/d", facts.Applied, false),
		},
	}
	with := func(change func(*volumes.Member)) volumes.Member {
		m := app
		change(&m)
		return m
	}
	for _, test := range []struct {
		name    string
		member  volumes.Member
		taken   []string // its mounts
		changed int
		unknown []string
	}{
		{"one that was decided about", app, []string{"/a", "/b", "/c", "/d"}, 2, nil},
		{"a sandbox", with(func(m *volumes.Member) { m.Sandbox = true }), nil, 0, nil},
		{"one that has ended", with(func(m *volumes.Member) { m.Ended = true }), nil, 0, nil},
		{"one of another client", with(func(m *volumes.Member) { m.Namespace = "moby" }), nil, 0, nil},
		{
			"one that was not decided about",
			with(func(m *volumes.Member) {
				m.Known, m.Outcomes = false, []facts.Outcome{outcome("/a", facts.Unchanged, false)}
			}),
			[]string{"/a"},
			0, nil,
		},
		{
			"one of which what was decided cannot be read",
			with(func(m *volumes.Member) {
				m.Known, m.KnownWhy, m.Outcomes = false, "x.json: damaged", []facts.Outcome{outcome("/a", facts.Unchanged, false)}
			}),
			[]string{"/a"},
			0,
			[]string{"x.json: damaged; the mounts are those that it was made with"},
		},
	} {
		r := recorded{}
		r.add(test.member)
		var taken, unknown []string
		for _, s := range r.subjects {
			for _, m := range s.Container.Mounts {
				taken = append(taken, m.Destination)
			}
		}
		for _, u := range r.unknown {
			unknown = append(unknown, u.Why)
		}
		if diff := cmp.Diff(test.taken, taken); diff != "" || r.changed != test.changed {
			t.Errorf("%s: %d changed, want %d, mounts (-want +got)\n%s", test.name, r.changed, test.changed, diff)
		}
		if diff := cmp.Diff(test.unknown, unknown); diff != "" {
			t.Errorf("%s: unknown (-want +got)\n%s", test.name, diff)
		}
	}
}
