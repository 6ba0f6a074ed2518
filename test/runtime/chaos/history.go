//go:build linux

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mountward/mountward/test/runtime/harness"
)

// try is one attempt to have a container.
type try struct {
	key    string // POD-UID.NAME, also of its report
	uid    string
	name   string
	id     string // "" until the runtime told it
	shape  shape
	static bool
	users  *harness.IDMap // of its pod
	// missed says that it started as asked, which the namespace applier was to
	// change.
	missed bool
	// refused is our refusal, as the owner of the pod reads it.
	refused string
}

// history is what happened, in order.
type history struct {
	mu     sync.Mutex
	events []happening
	all    []*try
}

type happening struct {
	at   time.Time
	key  string // of a try, "" where it concerns all
	text string
}

// note adds what happened to a container, or with "" to the node.
func (h *history) note(key, format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, happening{time.Now(), key, fmt.Sprintf(format, args...)})
}

func (h *history) add(t *try) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, t)
}

// tries are all attempts so far. They change no more once their workers ended.
func (h *history) tries() []*try {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.all)
}

// around is how long before and after the life of a container what happens to
// the node is told.
const around = 5 * time.Second

// print prints what happened to a container, and to the node meanwhile, with
// what the trail and containerd's log say of it.
func (h *history) print(w io.Writer, t *try, records []record, log string) {
	h.mu.Lock()
	all := slices.Clone(h.events)
	h.mu.Unlock()
	var first, last time.Time
	for _, e := range all {
		if e.key != t.key {
			continue
		}
		if first.IsZero() {
			first = e.at
		}
		last = e.at
	}
	var lines []happening
	for _, e := range all {
		if e.key == t.key || e.key == "" && e.at.After(first.Add(-around)) && e.at.Before(last.Add(around)) {
			lines = append(lines, e)
		}
	}
	for _, r := range records {
		switch {
		case r.about(t):
			lines = append(lines, happening{r.Time, t.key, "trail: " + r.Schema + ": " + r.Message})
		case r.Container.ID == "" && r.Time.After(first.Add(-around)) && r.Time.Before(last.Add(around)):
			lines = append(lines, happening{r.Time, "", "trail: " + r.Message})
		}
	}
	for line := range strings.Lines(log) {
		if t.id == "" || !strings.Contains(line, t.id) {
			continue
		}
		_, text, _ := strings.Cut(line, `time="`)
		stamp, text, _ := strings.Cut(text, `"`)
		if at, err := time.Parse(time.RFC3339Nano, stamp); err == nil {
			lines = append(lines, happening{at, t.key, "containerd:" + strings.TrimSpace(text)})
		}
	}
	slices.SortStableFunc(lines, func(a, b happening) int { return a.at.Compare(b.at) })
	fmt.Fprintf(w, "  container %s, shape %s, static %t, id %s\n", t.key, t.shape.name, t.static, t.id)
	for _, l := range lines {
		who := " "
		if l.key == "" {
			who = "*"
		}
		fmt.Fprintf(w, "  %s %s %s\n", l.at.UTC().Format("15:04:05.000000"), who, l.text)
	}
}
