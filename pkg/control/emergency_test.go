package control

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestEmergencyNote: what was noted is found again, and what no command could
// have noted switches nothing off.
func TestEmergencyNote(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	dir := t.TempDir()
	if _, ok, err := ReadEmergency(dir); ok || err != nil {
		t.Errorf("an empty directory: %t, %v", ok, err)
	}
	want := Emergency{Since: now, Until: now.Add(time.Hour)}
	if err := want.Write(dir); err != nil {
		t.Fatal(err)
	}
	got, ok, err := ReadEmergency(dir)
	if !ok || err != nil || !got.Since.Equal(want.Since) || !got.Until.Equal(want.Until) {
		t.Errorf("%+v, %t, %v", got, ok, err)
	}
	for after, on := range map[time.Duration]bool{-time.Minute: false, 0: true, time.Hour - 1: true, time.Hour: false} {
		if got.On(now.Add(after)) != on {
			t.Errorf("after %s: on is not %t", after, on)
		}
	}
	other := Emergency{Since: now, Until: now.Add(time.Minute)}
	if err := other.Remove(dir); err != nil {
		t.Error(err)
	}
	if _, ok, _ := ReadEmergency(dir); !ok {
		t.Error("the end of another emergency removed the note")
	}
	if err := want.Remove(dir); err != nil {
		t.Error(err)
	}
	if _, ok, _ := ReadEmergency(dir); ok {
		t.Error("its end left the note")
	}
	if err := want.Write(dir); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time there is nothing to remove
		if err := RemoveEmergency(dir); err != nil {
			t.Error(err)
		}
	}

	for name, text := range map[string]string{
		"empty": "", "garbage": "\x00{", "another form": `{"schema":"x","since":"2026-11-30T12:00:00Z","until":"2026-11-30T13:00:00Z"}`,
		"for ever":  `{"schema":"mountward.emergency-note/v1","since":"2026-11-30T12:00:00Z","until":"2036-11-30T13:00:00Z"}`,
		"backwards": `{"schema":"mountward.emergency-note/v1","since":"2026-11-30T12:00:00Z","until":"2026-11-30T11:00:00Z"}`,
		"zero":      `{"schema":"mountward.emergency-note/v1"}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, noteName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, ok, err := ReadEmergency(dir); ok || err == nil {
			t.Errorf("%s: %t, %v; want an error", name, ok, err)
		}
	}
	if err := RemoveEmergency(dir); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, noteName), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := ReadEmergency(dir); ok || err == nil {
		t.Errorf("a pipe: %t, %v; want an error", ok, err)
	}
}

func TestANoteThatCannotBeWrittenLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// A directory that is not empty stands where the note would be.
	if err := os.MkdirAll(filepath.Join(dir, noteName, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := (Emergency{Until: time.Now()}).Write(dir); err == nil {
		t.Error("no error")
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("%v, %v; want %s alone", left, err, noteName)
	}
}
