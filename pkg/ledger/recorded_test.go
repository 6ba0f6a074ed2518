package ledger

import "testing"

func TestMarkRecordedOutlivesTheProcess(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	put(t, l, entry("c1"))
	write := l.Keep(entry("c2"))
	for _, id := range []string{"c1", "c2"} {
		if err := l.MarkRecorded(id); err != nil {
			t.Fatal(err)
		}
	}
	if err := write(); err != nil { // what was kept before does not undo it
		t.Fatal(err)
	}
	for _, id := range []string{"c1", "c2"} {
		want := entry(id)
		want.Recorded = true
		wantEntry(t, l, want)
		wantEntry(t, open(t, dir), want)
	}
	if len(l.pending) != 0 {
		t.Errorf("%d entries are pending after all were written", len(l.pending))
	}
}

func TestMarkRecordedByALaterProcess(t *testing.T) {
	dir := t.TempDir()
	put(t, open(t, dir), entry("c1"))
	if err := open(t, dir).MarkRecorded("c1"); err != nil {
		t.Fatal(err)
	}
	want := entry("c1")
	want.Recorded = true
	wantEntry(t, open(t, dir), want)
}

func TestMarkRecordedMakesNoEntry(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	put(t, l, entry("c1"))
	if err := l.Remove("c1"); err != nil {
		t.Fatal(err)
	}
	if err := l.MarkRecorded("c1"); err != nil {
		t.Errorf("of a container that was removed: %v, want no error", err)
	}
	wantNone(t, l, "c1")
	wantNone(t, open(t, dir), "c1")
	wantError(t, l.MarkRecorded("../x"), "container id")
}
