package linux

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mountward/mountward/pkg/internal/linux/linuxtest"
)

func TestMain(m *testing.M) {
	linuxtest.Linger("killed", func([]string) (any, error) { return nil, nil })
	m.Run()
}

// TestEnding: also of a process that is there because a thread of it hangs.
func TestEnding(t *testing.T) {
	proc := t.TempDir()
	for name, test := range map[string]struct {
		status string
		want   bool
	}{
		"runs":                           {"Name:\ta\nState:\tS (sleeping)\nSigPnd:\t0000000000000000\nShdPnd:\t0000000000000200\nSigBlk:\t0000000000000100\n", false},
		"hangs":                          {"Name:\ta\nState:\tD (disk sleep)\nSigPnd:\t0000000000000000\nShdPnd:\t0000000000000000\n", false},
		"hangs and was killed":           {"Name:\ta\nState:\tD (disk sleep)\nSigPnd:\t0000000000000000\nShdPnd:\t0000000000000100\n", true},
		"hangs where it ends by itself":  {"Name:\ta\nState:\tD (disk sleep)\nSigPnd:\t0000000000000100\nShdPnd:\t0000000000000000\n", true},
		"the first thread ended":         {"Name:\ta\nState:\tZ (zombie)\nSigPnd:\t0000000000000000\nShdPnd:\t0000000000000000\n", true},
		"has a name that looks like one": {"Name:\ta\\nState:\tZ\nState:\tR (running)\n", false},
		"no text":                        {"", false},
	} {
		if err := os.MkdirAll(filepath.Join(proc, "7"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(proc, "7", "status"), []byte(test.status), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := Ending(proc, 7); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if Ending(proc, 8) {
		t.Error("one that is not there")
	}
	if Ending("/proc", os.Getpid()) {
		t.Error("ourselves")
	}
	killed := linuxtest.Start(t, "killed", nil)
	for end := time.Now().Add(time.Minute); !Ending("/proc", killed.Pid); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a process of which one thread is left")
		}
	}
}
