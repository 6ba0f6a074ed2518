package spool

import (
	"os"
	"path/filepath"
	"testing"
)

// Whatever became of the file: no panic, no record that was not written, each
// at most once and in order, and all whose frames end before the first byte
// that changed.
func FuzzDamage(f *testing.F) {
	f.Add(uint8(3), []byte{}, int64(0), int64(-1))
	f.Add(uint8(5), []byte{0x01}, int64(25), int64(-1))                  // in a record
	f.Add(uint8(5), []byte{0xff}, int64(8), int64(-1))                   // in a length
	f.Add(uint8(5), []byte{0x04, 0x04, 0x07, 0x00}, int64(4), int64(-1)) // in a mark
	f.Add(uint8(5), []byte{}, int64(0), int64(70))                       // torn
	f.Add(uint8(5), make([]byte, 40), int64(30), int64(90))
	f.Fuzz(func(t *testing.T, count uint8, flips []byte, at, size int64) {
		var data []byte
		var ends []int
		for i := range int(count % 16) {
			data = appendFrame(data, text(i))
			ends = append(ends, len(data))
		}
		damaged := append([]byte(nil), data...)
		for i, flip := range flips {
			if p := at + int64(i); p >= 0 && p < int64(len(damaged)) {
				damaged[p] ^= flip
			}
		}
		if size >= 0 && size < int64(len(damaged)) {
			damaged = damaged[:size]
		}
		sound := 0
		for sound < len(damaged) && damaged[sound] == data[sound] {
			sound++
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, segmentName(1)), damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(dir, wide, true)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		got := drain(t, s)
		next := 0
		for _, record := range got {
			for next < len(ends) && string(text(next)) != record {
				if ends[next] <= sound {
					t.Fatalf("record %d is missing; its frame is whole", next)
				}
				next++
			}
			if next == len(ends) {
				t.Fatalf("record %q was not written, or comes again", record)
			}
			next++
		}
		for ; next < len(ends); next++ {
			if ends[next] <= sound {
				t.Fatalf("record %d is missing; its frame is whole", next)
			}
		}
		if len(got) < len(ends) && len(damaged) == len(data) && s.Damaged() == 0 && !marked(damaged, ends) {
			t.Fatalf("%d of %d records, and nothing is told", len(got), len(ends))
		}
	})
}

// marked reports that the damage made a mark of its own.
func marked(data []byte, ends []int) bool {
	start := 0
	for _, end := range ends {
		if string(data[start+markAt:start+lengthAt]) == markTaken {
			return true
		}
		start = end
	}
	return false
}

// A file of any bytes yields only what checks out.
func FuzzAnyFile(f *testing.F) {
	f.Add(appendFrame(appendFrame(nil, []byte("a")), nil))
	f.Add([]byte("MWS1waitxxxxxxxxxxxxxxxx"))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, segmentName(1)), data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(dir, wide, true)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		total := 0
		for _, record := range drain(t, s) {
			total += len(record) + headerSize
		}
		if total > len(data) {
			t.Errorf("%d bytes of frames out of %d", total, len(data))
		}
	})
}
