package settings

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	good := write(t, filepath.Join(dir, "good.toml"), `policy = "/from-file"`)
	bad := write(t, filepath.Join(dir, "bad.toml"), "\npolicy = 1")
	partly := write(t, filepath.Join(dir, "partly.toml"), "policy = \"/from-file\"\nsate_dir = 1")
	missing := filepath.Join(dir, "missing.toml")
	dangling := filepath.Join(dir, "dangling.toml")
	if err := os.Symlink("nowhere", dangling); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name       string
		source     Source
		wantPolicy string
		wantFrom   string
		wantErr    string
	}{
		{"the text of the runtime wins", Source{Text: `policy = "/from-text"`, TextName: "90-mountward.conf", Path: good}, "/from-text", "90-mountward.conf", ""},
		{"a blank text is none", Source{Text: " \n\t", Path: good}, "/from-file", good, ""},
		{"a text of comments only is none", Source{Text: "# policy = 1\n\n  # x\n", Path: good}, "/from-file", good, ""},
		{"a bad text gives what it says, not the file", Source{Text: "policy = 1", Path: good}, DefaultPolicyPath, "nri configuration", "nri configuration:1:10:"},
		{"a text with lines that end in CR alone is one", Source{Text: "# x\rpolicy = \"/from-text\"\r", Path: good}, "/from-text", "nri configuration", "carriage return"},
		{"a bad file, what is good in it", Source{Path: partly}, "/from-file", partly, partly + ":2:1:"},
		{"a file", Source{Path: good, Explicit: true}, "/from-file", good, ""},
		{"a bad file", Source{Path: bad}, DefaultPolicyPath, bad, bad + ":2:10:"},
		{"no file", Source{Path: missing}, DefaultPolicyPath, "defaults", ""},
		{"no file that was asked for", Source{Path: missing, Explicit: true}, DefaultPolicyPath, missing, "read settings " + missing + ": no such file"},
		{"a link that leads nowhere is not no file", Source{Path: dangling}, DefaultPolicyPath, dangling, "no such file"},
		{"a directory", Source{Path: dir}, DefaultPolicyPath, dir, "not a regular file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, from, err := test.source.Load()
			if s.Policy != test.wantPolicy || from != test.wantFrom {
				t.Errorf("policy %q from %q, want %q from %q", s.Policy, from, test.wantPolicy, test.wantFrom)
			}
			wantError(t, err, test.wantErr)
		})
	}
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("error %v", err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("error %v, want %q", err, want)
	}
}

// inTime fails the test instead of hanging it.
func inTime(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatal("hangs")
	}
}

func TestReadingNeverWaits(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo.toml")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	inTime(t, func() {
		_, _, err := Source{Path: fifo}.Load()
		wantError(t, err, "not a regular file")
	})
}
