//go:build linux

package guard_test

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/test/runtime/ward"
)

// eventIDs are those in the catalog.
func eventIDs(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../../systemd/mountward.catalog")
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, m := range regexp.MustCompile(`(?m)^-- ([0-9a-f]{32})`).FindAllStringSubmatch(string(text), -1) {
		ids = append(ids, m[1])
	}
	if len(ids) < 5 {
		t.Fatalf("the catalog has %d ids", len(ids))
	}
	return ids
}

// nothingForged fails the test if anything in the journal, or in the file, is
// not as mountward wrote it.
func nothingForged(t *testing.T, w *ward.Ward) {
	t.Helper()
	ids := eventIDs(t)
	field := regexp.MustCompile(`^(_.*|MESSAGE|MESSAGE_ID|PRIORITY|SYSLOG_.*|CONTAINER_ID|CONTAINER_ID_FULL|CONTAINER_NAME|IMAGE_NAME|MOUNTWARD_[A-Z0-9_]+)$`)
	for _, e := range journal(t) {
		if slices.Equal(e["SYSLOG_IDENTIFIER"], []string{"systemd-journald"}) {
			continue
		}
		if !slices.Equal(e["SYSLOG_IDENTIFIER"], []string{"mountward"}) {
			t.Errorf("a record of %q: %q", e["SYSLOG_IDENTIFIER"], e["MESSAGE"])
			continue
		}
		for name := range e {
			if !field.MatchString(name) || strings.Contains(name, "FORGED") {
				t.Errorf("a record has the field %q: %q", name, e["MESSAGE"])
			}
		}
		if slices.Contains(e["MESSAGE_ID"], forgedID) {
			t.Errorf("a record has a forged id: %q", e["MESSAGE"])
		}
		for _, name := range []string{"MESSAGE", "PRIORITY"} {
			if len(e[name]) != 1 || strings.ContainsAny(e[name][0], "\n\x1b") || !utf8.ValidString(e[name][0]) {
				t.Errorf("%s = %q, want one line", name, e[name])
			}
		}
		if len(e["MOUNTWARD_EVENT"]) == 0 {
			continue // a line of the log
		}
		for _, name := range []string{"MESSAGE_ID", "MOUNTWARD_EVENT", "MOUNTWARD_RECORD"} {
			if len(e[name]) != 1 {
				t.Errorf("%s = %q, want one value", name, e[name])
			}
		}
		if !slices.Contains(ids, e["MESSAGE_ID"][0]) {
			t.Errorf("id %s is not in the catalog", e["MESSAGE_ID"][0])
		}
		if !json.Valid([]byte(e["MOUNTWARD_RECORD"][0])) {
			t.Errorf("record is no JSON: %q", e["MOUNTWARD_RECORD"][0])
		}
	}
	// As many records as lines: neither has one that the other has not. What
	// is written last may still be on its way.
	records, lines := 0, 0
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		records, lines = len(journal(t, "SYSLOG_IDENTIFIER=mountward")), len(mustRecords(t, w))
		if records == lines {
			return
		}
	}
	t.Errorf("%d records in the journal and %d lines in the file, want the same", records, lines)
}

// inJournal waits for the record of an event about a container, which must be
// the same in the file.
func inJournal(t *testing.T, w *ward.Ward, event, id string) (entry, ward.Record) {
	t.Helper()
	e := awaitJournal(t, "SYSLOG_IDENTIFIER=mountward", "MOUNTWARD_EVENT="+event, "CONTAINER_ID_FULL="+id)
	var r ward.Record
	if err := json.Unmarshal([]byte(e["MOUNTWARD_RECORD"][0]), &r); err != nil {
		t.Fatal(err)
	}
	file, err := w.Await(t.Context(), 0, ward.Of(event, id))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(file, r); diff != "" {
		t.Errorf("%s differs (-file +journal):\n%s", event, diff)
	}
	return e, r
}

// about is the value of a repeatable field that is about a destination.
func (e entry) about(t *testing.T, destination string) string {
	t.Helper()
	for _, value := range e["MOUNTWARD_MOUNT"] {
		if strings.HasPrefix(value, destination+" ") {
			return value
		}
	}
	t.Errorf("no MOUNTWARD_MOUNT begins with %q: %q", destination, e["MOUNTWARD_MOUNT"])
	return ""
}

// member finds the part of a record about a destination.
func member(r ward.Record, list string, destination string, path ...any) map[string]any {
	all, _ := r[list].([]any)
	for i := range all {
		at, _ := r.At(append([]any{list, i}, path...)...).(map[string]any)
		if at["destination"] == destination {
			return at
		}
	}
	return nil
}

func fromBase64(t *testing.T, v any) string {
	t.Helper()
	text, _ := v.(string)
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Error(err)
	}
	return string(data)
}
