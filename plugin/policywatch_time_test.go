package main

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestWhenPolicyFilesAreLookedAtAndLoaded: at once, when they were let alone for
// half a second, every ten seconds, and never for the first time right before a
// load. The clock is not the machine's.
func TestWhenPolicyFilesAreLookedAtAndLoaded(t *testing.T) {
	const (
		loadedFirst = "A"
		changing    = "" // the files change while they are looked at
	)
	type event struct{}
	type step struct {
		after time.Duration // since the last one
		what  any           // event, or a string: what the files say
	}
	events := func(every time.Duration, n int) (all []step) {
		for range n {
			all = append(all, step{every, event{}})
		}
		return all
	}
	for _, test := range []struct {
		name  string
		steps []step
		want  []string // in 32 seconds
		fails bool     // a load leaves the files as what is to be loaded
		torn  bool     // the files changed while they were loaded first, and still do
	}{
		{name: "nothing happens", want: []string{"0s A", "10s A", "20s A", "30s A"}},
		{
			name: "an event, and nothing changed", steps: []step{{3 * time.Second, event{}}},
			want: []string{"0s A", "3.5s A", "10s A", "20s A", "30s A"},
		},
		{
			name: "a change is loaded when it was seen twice", steps: []step{{3 * time.Second, "B"}, {0, event{}}},
			want: []string{"0s A", "3.5s B", "4s B", "4s loaded", "10s B", "20s B", "30s B"},
		},
		{
			name: "a change without an event", steps: []step{{3 * time.Second, "B"}},
			want: []string{"0s A", "10s B", "10.5s B", "10.5s loaded", "20s B", "30s B"},
		},
		{
			name: "changes one after the other", steps: []step{{3 * time.Second, "B"}, {0, event{}}, {700 * time.Millisecond, "C"}, {500 * time.Millisecond, "D"}},
			want: []string{"0s A", "3.5s B", "4s C", "4.5s D", "5s D", "5s loaded", "10s D", "20s D", "30s D"},
		},
		{
			name: "a change that is taken back, and comes again", steps: []step{{3 * time.Second, "B"}, {0, event{}}, {700 * time.Millisecond, "A"}, {time.Second, "B"}, {0, event{}}},
			want: []string{"0s A", "3.5s B", "4s A", "5.2s B", "5.7s B", "5.7s loaded", "10s B", "20s B", "30s B"},
		},
		{
			name: "what changes while it is read", steps: []step{{3 * time.Second, changing}, {0, event{}}, {1200 * time.Millisecond, "B"}},
			want: []string{"0s A", "3.5s ", "4s ", "4.5s B", "5s B", "5s loaded", "10s B", "20s B", "30s B"},
		},
		{
			name:  "a change that is written anew meanwhile",
			steps: []step{{3 * time.Second, "B"}, {0, event{}}, {700 * time.Millisecond, changing}, {500 * time.Millisecond, "B"}},
			want:  []string{"0s A", "3.5s B", "4s ", "4.5s B", "5s B", "5s loaded", "10s B", "20s B", "30s B"},
		},
		{
			name: "what changes while it is read is not what was loaded", steps: []step{{3 * time.Second, changing}, {0, event{}}, {700 * time.Millisecond, "A"}},
			want: []string{"0s A", "3.5s ", "4s A", "10s A", "20s A", "30s A"},
		},
		{
			name: "what changed while it was loaded", torn: true, steps: []step{{1200 * time.Millisecond, "B"}},
			want: []string{"0s ", "500ms ", "1s ", "1.5s B", "2s B", "2s loaded", "10s B", "20s B", "30s B"},
		},
		{
			name: "a load that did not take what is there", steps: []step{{3 * time.Second, "B"}, {0, event{}}}, fails: true,
			want: []string{
				"0s A", "3.5s B", "4s B", "4s loaded", "10s B", "10.5s B", "10.5s loaded",
				"20s B", "20.5s B", "20.5s loaded", "30s B", "30.5s B", "30.5s loaded",
			},
		},
		{
			name: "a tick in the time that an event is given", steps: []step{{9800 * time.Millisecond, event{}}},
			want: []string{"0s A", "10.3s A", "20s A", "30s A"},
		},
		{
			name: "a tick between the two looks", steps: []step{{9300 * time.Millisecond, "B"}, {0, event{}}},
			want: []string{"0s A", "9.8s B", "10.3s B", "10.3s loaded", "20s B", "30s B"},
		},
		{
			name: "events without end", steps: append([]step{{2600 * time.Millisecond, "A"}}, events(400*time.Millisecond, 13)...),
			// From the first event at 3s those of two seconds count: that at 5s puts
			// nothing off any more.
			want: []string{"0s A", "5.1s A", "7.5s A", "8.3s A", "10s A", "20s A", "30s A"},
		},
		{
			name: "events between two looks", steps: append([]step{{3 * time.Second, "B"}, {0, event{}}, {600 * time.Millisecond, event{}}}, events(400*time.Millisecond, 6)...),
			want: []string{"0s A", "3.5s B", "5.7s B", "5.7s loaded", "6.5s B", "10s B", "20s B", "30s B"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, loaded := time.Now(), loadedFirst
				var files atomic.Value // string
				if test.torn {
					loaded = changing
				}
				files.Store(loaded)
				says := func() string { return files.Load().(string) }
				var got []string
				note := func(what string) { got = append(got, time.Since(began).String()+" "+what) }
				happened := make(chan struct{})
				w := &policyWatch{
					settle: policySettle, every: policyLook,
					look:   func() (string, bool) { note(says()); return says(), says() != changing },
					loaded: func() string { return loaded },
					load: func() <-chan struct{} {
						note("loaded")
						if !test.fails {
							loaded = says()
						}
						done := make(chan struct{})
						close(done)
						return done
					},
				}
				ctx, cancel := context.WithCancel(t.Context())
				over := make(chan struct{})
				go func() { w.loop(ctx, happened); close(over) }()
				for _, s := range test.steps {
					time.Sleep(s.after)
					switch what := s.what.(type) {
					case event:
						happened <- struct{}{}
					case string:
						files.Store(what)
					}
				}
				time.Sleep(32*time.Second - time.Since(began))
				cancel()
				<-over
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("-want +got\n%s", diff)
				}
			})
		})
	}
}

// TestALoadThatHangsIsNotWaitedForAtTheEnd.
func TestALoadThatHangsIsNotWaitedForAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		w := &policyWatch{
			settle: policySettle, every: policyLook,
			look:   func() (string, bool) { return "B", true },
			loaded: func() string { return "A" },
			load:   func() <-chan struct{} { cancel(); return nil },
		}
		w.loop(ctx, nil)
	})
}
