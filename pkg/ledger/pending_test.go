package ledger

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhatIsKeptIsFoundBeforeItIsWritten(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	write := l.Keep(entry("c1"))
	wantEntry(t, l, entry("c1"))
	wantNone(t, open(t, dir), "c1")
	// Also when it would no longer be among the recent ones.
	for i := range maxRecent {
		put(t, l, entry(fmt.Sprintf("d%d", i)))
	}
	wantEntry(t, l, entry("c1"))
	if ids, err := l.List(); err != nil || len(ids) != maxRecent+1 || ids[0] != "c1" {
		t.Errorf("List: %v, %v, want c1 in it", ids, err)
	}
	if err := write(); err != nil {
		t.Fatal(err)
	}
	wantEntry(t, open(t, dir), entry("c1"))
	if len(l.pending) != 0 {
		t.Errorf("%d entries are pending after all were written", len(l.pending))
	}
}

func TestWhatWasRemovedIsNotWrittenAndTheLatestWins(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	removed, replaced := l.Keep(entry("c1")), l.Keep(entry("c2"))
	if err := l.Remove("c1"); err != nil {
		t.Fatal(err)
	}
	later := entry("c2")
	later.Mode = "audit"
	l.Keep(later)
	for _, write := range []func() error{removed, replaced, removed} {
		if err := write(); err != nil {
			t.Error(err)
		}
	}
	wantNone(t, l, "c1")
	for name, l := range map[string]*Ledger{"this process": l, "after a restart": open(t, dir)} {
		wantEntry(t, l, later)
		if ids, err := l.List(); err != nil || cmp.Diff([]string{"c2"}, ids) != "" {
			t.Errorf("%s: List: %v, %v, want c2 alone", name, ids, err)
		}
	}
}

func TestKeepSaysWhyItCannotBeWritten(t *testing.T) {
	l := open(t, t.TempDir())
	wantError(t, l.Keep(entry("../x"))(), "container id")
}
