package journal_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/journal"
)

// decode reads a record as journald does: up to the first '=' or newline is the
// name; after '=' the value ends at the newline, after a newline comes its
// length.
func decode(record []byte) ([]journal.Field, error) {
	var fields []journal.Field
	for len(record) > 0 {
		line := bytes.IndexByte(record, '\n')
		if line < 0 {
			return nil, errors.New("no newline after the last field")
		}
		if name, value, ok := bytes.Cut(record[:line], []byte("=")); ok {
			fields = append(fields, journal.Field{Name: string(name), Value: value})
			record = record[line+1:]
			continue
		}
		name := string(record[:line])
		record = record[line+1:]
		if len(record) < 8 {
			return nil, errors.New("no room for a length")
		}
		size := binary.LittleEndian.Uint64(record)
		record = record[8:]
		if size >= uint64(len(record)) || record[size] != '\n' {
			return nil, errors.New("length does not lead to a newline")
		}
		fields = append(fields, journal.Field{Name: name, Value: record[:size]})
		record = record[size+1:]
	}
	return fields, nil
}

func TestEncodeWritesPairsInOrder(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		fields []journal.Field
		want   string
	}{
		"a plain value": {
			[]journal.Field{journal.String("MESSAGE", "a=b")},
			"MESSAGE=a=b\n",
		},
		"an empty value": {
			[]journal.Field{journal.String("A", "")},
			"A=\n",
		},
		"a value with a newline has its length before it": {
			[]journal.Field{journal.String("A", "x\nMESSAGE_ID=1\n")},
			"A\n\x0f\x00\x00\x00\x00\x00\x00\x00x\nMESSAGE_ID=1\n\n",
		},
		"a name comes twice": {
			[]journal.Field{journal.String("A_1", "x"), journal.String("B", "y"), journal.String("A_1", "z")},
			"A_1=x\nB=y\nA_1=z\n",
		},
		"bytes that are not UTF-8": {
			[]journal.Field{journal.String("A", "\xff\x00\x01")},
			"A=\xff\x00\x01\n",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := journal.Encode(test.fields)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Errorf("record (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEncodeRefusesNamesJournaldWouldNotTake(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("A", journal.MaxName)
	for _, name := range []string{
		"", "_UID", "a", "Ab", "1A", "A-B", "A B", "A=B", "A\nMESSAGE_ID=ffff\nB", "A\x00", "Ä", long + "A",
	} {
		if got, err := journal.Encode([]journal.Field{journal.String("OK", "x"), journal.String(name, "y")}); err == nil {
			t.Errorf("Encode with name %q = %q, want an error", name, got)
		}
	}
	for _, name := range []string{"A", "A_", "A0_Z", long} {
		if _, err := journal.Encode([]journal.Field{journal.String(name, "")}); err != nil {
			t.Errorf("Encode with name %q: %v, want none", name, err)
		}
	}
}

func TestEncodeRefusesNoneAndTooManyFields(t *testing.T) {
	t.Parallel()
	fields := make([]journal.Field, journal.MaxFields+1)
	for i := range fields {
		fields[i] = journal.String("A", "x")
	}
	if _, err := journal.Encode(fields[:journal.MaxFields]); err != nil {
		t.Errorf("Encode of MaxFields fields: %v", err)
	}
	if _, err := journal.Encode(fields); err == nil {
		t.Error("Encode of MaxFields+1 fields: no error")
	}
	if _, err := journal.Encode(nil); err == nil {
		t.Error("Encode of no field: no error")
	}
}

// No value can create or change a field, and no bad name is ever written.
func FuzzEncode(f *testing.F) {
	f.Add("MESSAGE", []byte("x"), "A", []byte("y\nMESSAGE_ID=1\n"))
	f.Add("A\nB", []byte(""), "_A", []byte("\xff=\x00"))
	f.Add("A", []byte("\n"), "A", []byte("=\n\x01\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, name1 string, value1 []byte, name2 string, value2 []byte) {
		want := []journal.Field{{Name: name1, Value: value1}, {Name: name2, Value: value2}}
		record, err := journal.Encode(want)
		if err != nil {
			if record != nil {
				t.Errorf("Encode = %q beside an error", record)
			}
			return
		}
		got, err := decode(record)
		if err != nil {
			t.Fatalf("decode %q: %v", record, err)
		}
		if len(got) != 2 || got[0].Name != name1 || got[1].Name != name2 ||
			!bytes.Equal(got[0].Value, value1) || !bytes.Equal(got[1].Value, value2) {
			t.Errorf("decode %q = %q, want %q", record, got, want)
		}
		for _, field := range got {
			if strings.ContainsAny(field.Name, "=\n") || strings.HasPrefix(field.Name, "_") {
				t.Errorf("name %q was written", field.Name)
			}
		}
	})
}
