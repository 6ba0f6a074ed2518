//go:build linux

package main

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOnlyTestsThatRanAndPassedAreGood(t *testing.T) {
	const pass = "=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\n"
	for _, test := range []struct {
		name, code, output, want string
	}{
		{"passed", "0", pass, ""},
		{"passed with subtests", "0", "    --- PASS: TestA/one (0.00s)\n" + pass, ""},
		{"failed", "1", pass + "--- FAIL: TestB (0.00s)\nFAIL\n", "failed"},
		{"failed, and the code says not so", "0", pass + "    --- FAIL: TestB/one (0.00s)\n", "failed"},
		{"died after a test", "2", pass + "panic: no\n", "failed"},
		{"code is missing", "", pass, "failed"},
		{"skipped", "0", pass + "--- SKIP: TestB (0.00s)\n", "skipped"},
		{"none matched", "0", "testing: warning: no tests to run\nPASS\n", "no test ran"},
		{"only says so", "0", "    x_test.go:1: quoted --- PASS: TestA (0.00s)\nPASS\n", "no test ran"},
	} {
		t.Run(test.name, func(t *testing.T) {
			switch _, err := judge(test.code, test.output); {
			case test.want == "" && err != nil:
				t.Errorf("error = %v, want none", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("error = %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestResultsAreTakenFromADiskWithRoomLeft(t *testing.T) {
	dir := t.TempDir()
	disk := filepath.Join(dir, "disk")
	var image bytes.Buffer
	w := tar.NewWriter(&image)
	for _, name := range []string{"output", "../outside"} {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: 4}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte("text")); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(disk, append(image.Bytes(), make([]byte, 1<<20)...), 0o600); err != nil {
		t.Fatal(err)
	}
	results := filepath.Join(dir, "results")
	if err := extract(disk, results); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(results, "output")); string(got) != "text" {
		t.Errorf("output = %q, %v", got, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "outside")); err == nil {
		t.Error("a file was written outside")
	}
}

func TestAMachineThatWroteNothingIsAnError(t *testing.T) {
	disk := filepath.Join(t.TempDir(), "disk")
	if err := os.WriteFile(disk, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := extract(disk, t.TempDir()); err == nil {
		t.Error("no error")
	}
}

func TestConsoleIsShownWithoutWhatMovesTheCursor(t *testing.T) {
	var b strings.Builder
	show(strings.NewReader("\x1b[!p\x1b]104\x1b\\\x1b[?7hLinux\r\nend"), &b)
	if got, want := b.String(), "Linux\nend"; got != want {
		t.Errorf("console = %q, want %q", got, want)
	}
}
