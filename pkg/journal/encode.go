package journal

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Limits of journald: it drops a field with a longer name, and a whole record
// with more fields. Source: systemd src/libsystemd/sd-journal/journal-file.h
// and src/journal/journald-native.c, version 252.
const (
	MaxName   = 64
	MaxFields = 1024
)

// Field is one pair of a record. Value may hold any bytes.
type Field struct {
	Name  string
	Value []byte
}

// String returns a Field with a text as its value.
func String(name, value string) Field { return Field{name, []byte(value)} }

// Encode returns one datagram of the native protocol. It fails, whole, on a
// field name that journald would not take, on more than MaxFields fields and on
// none at all.
func Encode(fields []Field) ([]byte, error) {
	if len(fields) == 0 || len(fields) > MaxFields {
		return nil, fmt.Errorf("encode journal record: %d fields, want 1 to %d", len(fields), MaxFields)
	}
	size := 0
	for _, field := range fields {
		if err := checkName(field.Name); err != nil {
			return nil, err
		}
		size += len(field.Name) + len(field.Value) + len("\n12345678\n")
	}
	record := make([]byte, 0, size)
	for _, field := range fields {
		record = appendField(record, field)
	}
	return record, nil
}

// appendField writes NAME=value, and for a value that has a newline
// NAME, newline, the length in eight little-endian bytes, the value.
func appendField(record []byte, field Field) []byte {
	record = append(record, field.Name...)
	if bytes.IndexByte(field.Value, '\n') < 0 {
		record = append(record, '=')
	} else {
		record = append(record, '\n')
		record = binary.LittleEndian.AppendUint64(record, uint64(len(field.Value)))
	}
	record = append(record, field.Value...)
	return append(record, '\n')
}

// checkName wants [A-Z][A-Z0-9_]*: a name with a leading underscore is one that
// journald vouches for, and a newline in a name would begin a field of its own.
func checkName(name string) error {
	if name == "" || len(name) > MaxName {
		return fmt.Errorf("encode journal field %q: name has %d bytes, want 1 to %d", name, len(name), MaxName)
	}
	for i := range len(name) {
		c := name[i]
		upper := c >= 'A' && c <= 'Z'
		if !upper && (i == 0 || c != '_' && (c < '0' || c > '9')) {
			return fmt.Errorf("encode journal field %q: want a name of the form [A-Z][A-Z0-9_]*", name)
		}
	}
	return nil
}
