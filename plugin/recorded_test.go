package main

import (
	"strings"
	"testing"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/ledger"
)

// TestWhatIsToldOfAContainerThatIsRemoved: nothing where its start is recorded, or
// where the runtime that created it says that it never started.
func TestWhatIsToldOfAContainerThatIsRemoved(t *testing.T) {
	const created, never = "17@100", ""
	for name, tc := range map[string]struct {
		entry   ledger.Entry
		runtime string
		ran     bool
		want    string // in the record
	}{
		"it never started":                {ledger.Entry{Runtime: created}, created, false, never},
		"it started unseen":               {ledger.Entry{Runtime: created}, created, true, "started and ended while"},
		"it started, under another one":   {ledger.Entry{Runtime: created}, "17@200", true, "started and ended while"},
		"the runtime is another one":      {ledger.Entry{Runtime: created}, "17@200", false, "cannot be told"},
		"the runtime is not known":        {ledger.Entry{Runtime: created}, "", false, "cannot be told"},
		"who created it is not known":     {ledger.Entry{}, created, false, "cannot be told"},
		"neither is known":                {ledger.Entry{}, "", false, "cannot be told"},
		"it is recorded, and another one": {ledger.Entry{Runtime: created, Recorded: true}, "17@200", true, never},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t, "version = 1\n", "")
			d := n.daemon()
			d.start("")
			tc.entry.Container = facts.Container{ID: "c1", Name: "app"}
			if err := d.ledger().Put(tc.entry); err != nil {
				t.Fatal(err)
			}
			d.removed("c1", tc.runtime, tc.ran)
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
