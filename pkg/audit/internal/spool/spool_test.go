package spool

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var wide = Limits{Bytes: 1 << 20, Records: 1000, Segment: 256}

func open(t *testing.T, dir string, limits Limits) *Spool {
	t.Helper()
	s, err := Open(dir, limits, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func fill(t *testing.T, s *Spool, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		if err := s.Append(text(i), false); err != nil {
			t.Fatal(err)
		}
	}
}

func text(i int) []byte { return fmt.Appendf(nil, "record %d\n\xff", i) }

// drain takes all that waits.
func drain(t *testing.T, s *Spool) (got []string) {
	t.Helper()
	for {
		record, err := s.First()
		if err != nil {
			t.Fatal(err)
		}
		if record == nil {
			return got
		}
		got = append(got, string(record))
		if err := s.Take(); err != nil {
			t.Fatal(err)
		}
	}
}

func texts(from, to int) (all []string) {
	for i := from; i < to; i++ {
		all = append(all, string(text(i)))
	}
	return all
}

func TestRecordsComeInOrderOnceAndNothingStays(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run", "spool")
	s := open(t, dir, wide)
	fill(t, s, 0, 50)
	if record, err := s.First(); err != nil || !bytes.Equal(record, text(0)) {
		t.Fatalf("first %q, %v", record, err)
	}
	if err := s.Take(); err != nil {
		t.Fatal(err)
	}
	fill(t, s, 50, 60)
	if s.Waiting() != 59 {
		t.Errorf("%d wait, want 59", s.Waiting())
	}
	if diff := cmp.Diff(texts(1, 60), drain(t, s)); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	fill(t, s, 60, 61) // it goes on after it was empty
	if diff := cmp.Diff(texts(60, 61), drain(t, s)); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	checkEmpty(t, s, dir)
}

func checkEmpty(t *testing.T, s *Spool, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 0 || s.bytes != 0 || s.Waiting() != 0 || s.Damaged() != 0 {
		t.Errorf("%d files (%v), %d bytes, %d waiting, want nothing", len(entries), err, s.bytes, s.Waiting())
	}
}

// What a process leaves, also one that was killed, is there for the next one.
func TestTheNextProcessGoesOnWhereThisOneEnded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir, wide)
	fill(t, s, 0, 50)
	for i := range 23 {
		if record, _ := s.First(); !bytes.Equal(record, text(i)) {
			t.Fatalf("record %d is %q", i, record)
		}
		if err := s.Take(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.First(); err != nil { // handed out, and not taken
		t.Fatal(err)
	}
	if _, err := Open(dir, wide, true); !errors.Is(err, ErrHeld) {
		t.Errorf("open while another one has it: %v, want ErrHeld", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	next := open(t, dir, wide)
	fill(t, next, 50, 55)
	if diff := cmp.Diff(texts(23, 55), drain(t, next)); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	checkEmpty(t, next, dir)
}

func TestFilesAreForNobodyElse(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "spool")
	fill(t, open(t, dir, wide), 0, 1)
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, segmentName(1)): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("mode of %s is %v, %v; want %v", path, info.Mode(), err, want)
		}
	}
}

func TestOpenMakesNothingUnlessAsked(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "spool")
	if _, err := Open(dir, wide, false); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("open: %v, want that it does not exist", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("directory: %v, want none", err)
	}
}

func TestLimitsHoldAndRoomComesBack(t *testing.T) {
	t.Parallel()
	frame := int64(len(appendFrame(nil, text(0))))
	for name, limits := range map[string]Limits{
		"records": {Bytes: 1 << 20, Records: 9, Segment: 3 * frame},
		"bytes":   {Bytes: 9 * frame, Records: 1000, Segment: 3 * frame},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, t.TempDir(), limits)
			fill(t, s, 0, 9)
			if err := s.Append(text(9), false); !errors.Is(err, ErrFull) {
				t.Fatalf("append to a full spool: %v, want ErrFull", err)
			}
			if err := s.Append(text(9), true); err != nil {
				t.Fatalf("append beyond the limits: %v", err)
			}
			for range 6 { // two segments: bytes come back by segments
				if _, err := s.First(); err != nil {
					t.Fatal(err)
				}
				if err := s.Take(); err != nil {
					t.Fatal(err)
				}
			}
			fill(t, s, 10, 11)
			if diff := cmp.Diff(texts(6, 11), drain(t, s)); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
		})
	}
}

// A torn tail is what kill -9 in the middle of a write leaves.
func TestATornTailLosesOnlyItself(t *testing.T) {
	t.Parallel()
	frame := len(appendFrame(nil, text(0)))
	for cut := 1; cut < frame; cut++ {
		dir := t.TempDir()
		s := open(t, dir, Limits{Bytes: 1 << 20, Records: 100, Segment: 1 << 20})
		fill(t, s, 0, 3)
		s.Close()
		path := filepath.Join(dir, segmentName(1))
		if err := os.Truncate(path, int64(3*frame-cut)); err != nil {
			t.Fatal(err)
		}
		next := open(t, dir, wide)
		fill(t, next, 3, 4)
		if n := next.Damaged(); n != 1 {
			t.Errorf("%d damaged, want 1", n)
		}
		if diff := cmp.Diff(append(texts(0, 2), texts(3, 4)...), drain(t, next)); diff != "" {
			t.Errorf("cut by %d (-want +got):\n%s", cut, diff)
		}
		checkEmpty(t, next, dir)
	}
}

func TestWhatIsNoSegmentIsLeftAloneAndNotFollowed(t *testing.T) {
	t.Parallel()
	dir, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "other")
	other := appendFrame(nil, []byte("not ours"))
	for _, path := range []string{elsewhere, filepath.Join(dir, "note"), filepath.Join(dir, "7.spool")} {
		if err := os.WriteFile(path, other, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(elsewhere, filepath.Join(dir, segmentName(3))); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir, wide)
	fill(t, s, 0, 1)
	if diff := cmp.Diff(texts(0, 1), drain(t, s)); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	if n := s.Damaged(); n != 1 {
		t.Errorf("%d damaged, want 1: the link", n)
	}
	for _, path := range []string{elsewhere, filepath.Join(dir, "note"), filepath.Join(dir, "7.spool")} {
		if data, err := os.ReadFile(path); err != nil || !bytes.Equal(data, other) {
			t.Errorf("%s: %q, %v", path, data, err)
		}
	}
}
