package main

import (
	"strings"
	"testing"

	"github.com/containerd/nri/pkg/api"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/ledger"
)

// TestWhatIsToldOfAContainerThatIsRemoved: nothing where its start is recorded, or
// where the runtime that created it says that it never started.
func TestWhatIsToldOfAContainerThatIsRemoved(t *testing.T) {
	const created, never = "17@100", ""
	seen := ledger.Entry{Runtime: created}
	for name, tc := range map[string]struct {
		entry ledger.Entry
		end   ending
		want  string // in the record
	}{
		"it never started":                  {seen, ending{facts.No, created, false}, never},
		"it started unseen":                 {seen, ending{facts.Yes, created, false}, "nobody saw it start (mountward was away"},
		"it started, under another one":     {seen, ending{facts.Yes, "17@200", false}, "nobody saw it start (mountward was away"},
		"it started, and we saw all":        {seen, ending{facts.Yes, created, true}, "nobody saw it start (mountward was away"},
		"the runtime is another one":        {seen, ending{facts.No, "17@200", false}, "knows of no start"},
		"the runtime is not known":          {seen, ending{facts.No, "", false}, "knows of no start"},
		"who created it is not known":       {ledger.Entry{}, ending{facts.No, created, false}, "knows of no start"},
		"neither is known":                  {ledger.Entry{}, ending{facts.No, "", false}, "knows of no start"},
		"neither is known, and we saw all":  {ledger.Entry{}, ending{facts.No, "", true}, never},
		"it is recorded":                    {ledger.Entry{Runtime: created, Recorded: true}, ending{facts.Yes, "17@200", false}, never},
		"a runtime that does not tell":      {seen, ending{facts.Unknown, created, false}, "this runtime does not tell"},
		"one that does not, and we saw all": {seen, ending{facts.Unknown, created, true}, never},
		"one that does not, and is anew":    {seen, ending{facts.Unknown, "17@200", false}, "this runtime does not tell"},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t, "version = 1\n", "")
			d := n.daemon()
			d.start("")
			tc.entry.Container = facts.Container{ID: "c1", Name: "app"}
			if err := d.ledger().Put(tc.entry); err != nil {
				t.Fatal(err)
			}
			d.removed("c1", tc.end)
			text := n.trail(d) // all is written
			if told := strings.Contains(text, codeUnseen); told != (tc.want != never) || !strings.Contains(text, tc.want) {
				t.Errorf("want a record with %q in\n%s", tc.want, text)
			}
			if _, kept, err := d.ledger().Get("c1"); kept || err != nil {
				t.Errorf("the entry is kept: %t, %v", kept, err)
			}
		})
	}
}

func TestWhatARuntimeTellsOfAStart(t *testing.T) {
	for name, tc := range map[string]struct {
		c    *api.Container
		want facts.Truth
	}{
		"started":                   {&api.Container{State: api.ContainerState_CONTAINER_STOPPED, CreatedAt: 1, StartedAt: 2}, facts.Yes},
		"ended without a start":     {&api.Container{State: api.ContainerState_CONTAINER_STOPPED, CreatedAt: 1}, facts.No},
		"created":                   {&api.Container{State: api.ContainerState_CONTAINER_CREATED, CreatedAt: 1}, facts.No},
		"a creation that failed":    {&api.Container{}, facts.No},
		"no times: ended":           {&api.Container{State: api.ContainerState_CONTAINER_STOPPED}, facts.Unknown},
		"no times: created":         {&api.Container{State: api.ContainerState_CONTAINER_CREATED}, facts.No},
		"no times, nor what it did": {&api.Container{State: api.ContainerState_CONTAINER_UNKNOWN}, facts.No},
	} {
		if got := started(tc.c); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}
