//go:build linux

package guest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// entry is a record of the journal: every field with all its values.
type entry map[string][]string

// UnmarshalJSON reads what "journalctl -o json" writes: a string, a list of
// bytes for a value that is not UTF-8, or a list of either for a field that is
// there more than once.
func (e *entry) UnmarshalJSON(data []byte) error {
	raw := make(map[string]json.RawMessage)
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	*e = make(entry)
	for name, value := range raw {
		var one text
		if json.Unmarshal(value, &one) == nil {
			(*e)[name] = []string{string(one)}
			continue
		}
		var all []text
		if err := json.Unmarshal(value, &all); err != nil {
			return fmt.Errorf("field %s: %w", name, err)
		}
		for _, v := range all {
			(*e)[name] = append((*e)[name], string(v))
		}
	}
	return nil
}

// text is one value.
type text string

// UnmarshalJSON reads a string or a list of bytes.
func (t *text) UnmarshalJSON(data []byte) error {
	var s string
	if json.Unmarshal(data, &s) == nil {
		*t = text(s)
		return nil
	}
	var codes []int
	if err := json.Unmarshal(data, &codes); err != nil {
		return err
	}
	for _, c := range codes {
		*t += text([]byte{byte(c)})
	}
	return nil
}

// first is the first value of a field, or "".
func (e entry) first(name string) string {
	if len(e[name]) == 0 {
		return ""
	}
	return e[name][0]
}

// record is the whole event of one of mountward's records.
func (e entry) record(t *testing.T) map[string]any {
	t.Helper()
	record := make(map[string]any)
	if err := json.Unmarshal([]byte(e.first("MOUNTWARD_RECORD")), &record); err != nil {
		t.Fatalf("MOUNTWARD_RECORD: %v", err)
	}
	return record
}

// at follows member names and list indexes into a JSON value.
func at(v any, path ...any) any {
	for _, step := range path {
		switch s := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[s]
		case int:
			l, _ := v.([]any)
			if s >= len(l) {
				return nil
			}
			v = l[s]
		}
	}
	return v
}

// journal is what "journalctl MATCH..." finds, the oldest first.
func journal(match ...string) ([]entry, error) {
	out, err := run("journalctl", append([]string{"--quiet", "--all", "--output=json", "--boot"}, match...)...)
	if err != nil {
		return nil, err
	}
	var entries []entry
	for line := range strings.Lines(out) {
		var e entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return nil, fmt.Errorf("read journal: %w in %q", err, line)
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// awaitEntry waits for a record that matches, and returns the last one.
func awaitEntry(t *testing.T, match ...string) entry {
	t.Helper()
	return await(t, "journalctl "+strings.Join(match, " "), func() (entry, error) {
		all, err := journal(match...)
		if err == nil && len(all) == 0 {
			err = errNotYet
		}
		if err != nil {
			return nil, err
		}
		return all[len(all)-1], nil
	})
}
