//go:build linux

package guard_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/mountward/mountward/test/runtime/harness"
)

// journalSetup prepares the mount namespace of the daemon: nothing but /run is
// the tests', and the machine's journal is not touched. "Audit=" leaves the
// kernel's auditing as it is.
const journalSetup = `set -eu
mount -t tmpfs tmpfs /var/log
mkdir -p /run/systemd/journald.conf.d /run/systemd/journal /run/log/journal
printf '[Journal]\nStorage=volatile\nAudit=\nReadKMsg=no\nRateLimitIntervalSec=0\nForwardToSyslog=no\n' \
	> /run/systemd/journald.conf.d/test.conf
echo 0123456789abcdef0123456789abcdef > /run/systemd/test-machine-id
mount --bind /run/systemd/test-machine-id /etc/machine-id
exec /lib/systemd/systemd-journald
`

// startJournald starts the real one where programs look for it, which is free
// in the namespace of the tests, and removes it with the test.
func startJournald(t *testing.T) *os.Process {
	t.Helper()
	harness.NeedsRoot(t)
	for _, dir := range []string{"/run/systemd", "/run/log"} {
		if _, err := os.Stat(dir); err == nil {
			t.Fatalf("%s is there: this is not the namespace of the tests", dir)
		}
		t.Cleanup(func() {
			if err := os.RemoveAll(dir); err != nil {
				t.Error(err)
			}
		})
	}
	var output bytes.Buffer
	cmd := exec.Command("unshare", "--mount", "--propagation", "private", "sh", "-c", journalSetup)
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // it ends by our signal; what it said is in output
		close(ended)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGCONT)
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(time.Minute):
			_ = cmd.Process.Kill()
			<-ended
		}
		if t.Failed() {
			t.Logf("journald said:\n%s", output.String())
		}
	})
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat("/run/systemd/journal/socket"); err == nil {
			return cmd.Process
		}
	}
	t.Fatal("journald has no socket")
	return nil
}

// entry is one record of the journal: every field with all its values.
type entry map[string][]string

// journal returns the records that match, all without a match.
func journal(t *testing.T, match ...string) []entry {
	t.Helper()
	args := append([]string{"--directory", "/run/log/journal", "--output", "export", "--quiet", "--all"}, match...)
	output, err := exec.Command("journalctl", args...).Output()
	if err != nil {
		return nil // nothing was written yet
	}
	entries, err := parseExport(output)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// awaitJournal waits for one record and fails the test if there are more.
func awaitJournal(t *testing.T, match ...string) entry {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		switch entries := journal(t, match...); len(entries) {
		case 0:
		case 1:
			return entries[0]
		default:
			t.Fatalf("%d records for %q, want 1", len(entries), match)
		}
	}
	t.Fatalf("no record for %q", match)
	return nil
}

// parseExport reads the Journal Export Format:
// https://systemd.io/JOURNAL_EXPORT_FORMATS/
func parseExport(data []byte) ([]entry, error) {
	var entries []entry
	current := entry{}
	for len(data) > 0 {
		line, rest, ok := bytes.Cut(data, []byte("\n"))
		name, value, text := bytes.Cut(line, []byte("="))
		switch {
		case !ok:
			return nil, fmt.Errorf("no newline after %q", line)
		case len(line) == 0:
			entries, current = append(entries, current), entry{}
		case text:
			current[string(name)] = append(current[string(name)], string(value))
		default:
			if len(rest) < 8 || uint64(len(rest)-8) <= binary.LittleEndian.Uint64(rest) {
				return nil, fmt.Errorf("length of %q leads beyond the end", line)
			}
			size := binary.LittleEndian.Uint64(rest)
			current[string(line)] = append(current[string(line)], string(rest[8:8+size]))
			rest = rest[8+size+1:]
		}
		data = rest
	}
	return entries, nil
}

// journalSettings are those of a ward that writes to the journal as well as to
// its file.
func journalSettings(dir, more string) string {
	return fmt.Sprintf("policy = %q\nstate_dir = %q\nruntime_dir = %q\naudit.journal = true\naudit.file = %q\n%s\n",
		filepath.Join(dir, "policy.toml"), filepath.Join(dir, "state"), filepath.Join(dir, "run"), filepath.Join(dir, "audit.jsonl"), more)
}
