package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mountward/mountward/pkg/doctor"
)

// TestDoctorEndsOnANodeThatHangs, and says so where it is looked for.
func TestDoctorEndsOnANodeThatHangs(t *testing.T) {
	proc := t.TempDir()
	pipe := filepath.Join(proc, "1", "mountinfo")
	if err := errors.Join(os.Mkdir(filepath.Dir(pipe), 0o755), syscall.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // lets go what waits for a writer
		if f, err := os.OpenFile(pipe, os.O_RDWR, 0); err == nil {
			_ = f.Close()
		}
	})
	for _, args := range [][]string{{}, {"--oneline"}} {
		c := doctorCommand(machine{proc: proc, sys: t.TempDir(), dev: t.TempDir(), most: 200 * time.Millisecond})
		var out, errs bytes.Buffer
		c.SilenceUsage, c.SilenceErrors = true, true
		c.SetOut(&out)
		c.SetErr(&errs)
		c.SetArgs(append(args, "--config", emptySettings(t)))
		err := c.ExecuteContext(t.Context())
		if codeOf(t, err) != ExitCannotTell || !strings.Contains(err.Error(), "no answer in") {
			t.Errorf("%v: %v", args, err)
		}
		if line := out.String(); (line != "") != (len(args) > 0) || line != "" && (!strings.HasPrefix(line, "cannot tell: doctor: ") || len(line) > doctor.MaxOneLine+1) {
			t.Errorf("%v: %q", args, line)
		}
	}
}

// emptySettings is a settings file that says nothing.
func emptySettings(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "mountward.toml")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestWhatIsNoNodeIsAnError: without any mount table there is nothing to tell.
func TestWhatIsNoNodeIsAnError(t *testing.T) {
	c := doctorCommand(machine{proc: t.TempDir(), sys: t.TempDir(), dev: t.TempDir(), most: time.Minute})
	var out bytes.Buffer
	c.SilenceUsage, c.SilenceErrors = true, true
	c.SetOut(&out)
	c.SetErr(&bytes.Buffer{})
	c.SetArgs([]string{"--config", emptySettings(t)})
	if err := c.ExecuteContext(t.Context()); codeOf(t, err) != ExitCannotTell || out.Len() > 0 {
		t.Errorf("exit %d (%v): %s", codeOf(t, err), err, out.String())
	}
}

// TestABaselineThatIsTooLargeIsNotRead.
func TestABaselineThatIsTooLargeIsNotRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "big.json")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Truncate(file, doctor.MaxBaseline+1)); err != nil {
		t.Fatal(err)
	}
	if _, err := readBaseline(file); codeOf(t, err) != ExitUsage || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("%v", err)
	}
}
