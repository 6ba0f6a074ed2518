package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mountward/mountward/pkg/volumes"
)

func TestFileGetsEveryRecordAsOneLine(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new", "audit.jsonl")
	trail := open(t, Options{File: path, Now: noon})
	trail.Record(Task{Container: testContainer(), Task: volumes.Task{Mounts: []volumes.Mount{{Destination: "/a\nb\xff"}}}})
	trail.Logger().WithError(errors.New("broken")).Error("two\nlines")
	closeTrail(t, trail)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines, want 2: %q", len(lines), data)
	}
	var task struct {
		Schema string
		Mounts []map[string]any
	}
	if err := json.Unmarshal([]byte(lines[0]), &task); err != nil || task.Schema != "mountward.task/v1" || task.Mounts[0]["destination_b64"] != "L2EKYv8=" {
		t.Errorf("task %+v, %v", task, err)
	}
	var line struct{ Schema, Level, Text, Error string }
	if err := json.Unmarshal([]byte(lines[1]), &line); err != nil || line.Schema != "mountward.log/v1" || line.Text != "two\nlines" || line.Error != "broken" {
		t.Errorf("line %+v, %v", line, err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
	}
}

func TestFileSinkFollowsRotation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "audit.jsonl")
	sink, err := newFileSink(path)
	if err != nil {
		t.Fatal(err)
	}
	defer sink.close()
	write := func(text string) {
		t.Helper()
		if err := sink.write(record{line: []byte(text)}); err != nil {
			t.Fatal(err)
		}
	}
	write("1")
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	write("2")
	if err := os.Truncate(path, 0); err != nil { // copytruncate
		t.Fatal(err)
	}
	write("3")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	write("4")
	for name, want := range map[string]string{path + ".1": "1\n", path: "0\n4\n"} {
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v; want %q", filepath.Base(name), got, err, want)
		}
	}
}

func TestFileSinkOpensAgainOnceItCan(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	blocker := filepath.Join(dir, "log")
	if err := os.WriteFile(blocker, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	sink, err := newFileSink(filepath.Join(blocker, "audit.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer sink.close()
	if err := sink.write(record{line: []byte("1")}); err == nil {
		t.Error("write below a file: no error")
	}
	if err := os.Remove(blocker); err != nil {
		t.Fatal(err)
	}
	if err := sink.write(record{line: []byte("2")}); err != nil {
		t.Errorf("write once the directory can be made: %v", err)
	}
}

func TestALineAfterATornOneBeginsAnew(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	sink, err := newFileSink(path)
	if err != nil {
		t.Fatal(err)
	}
	defer sink.close()
	if err := sink.write(record{line: []byte("1")}); err != nil {
		t.Fatal(err)
	}
	if _, err := sink.file.WriteString(`{"half`); err != nil {
		t.Fatal(err)
	}
	sink.torn = true
	for _, text := range []string{"2", "3"} {
		if err := sink.write(record{line: []byte(text)}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, []byte("1\n{\"half\n2\n3\n")) {
		t.Errorf("file holds %q, %v", got, err)
	}
}
