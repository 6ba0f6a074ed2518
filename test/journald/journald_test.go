// Package journald_test sends records to a real systemd-journald and reads them
// back with journalctl.
package journald_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// setup prepares the mount namespace of the daemon: what it reads and writes is
// on file systems that end with it, and the machine's journal is not touched.
// "Audit=" leaves the kernel's auditing as it is.
const setup = `set -eu
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /var/log
mkdir -p /run/systemd/journald.conf.d /run/systemd/journal /run/log/journal
printf '[Journal]\nStorage=volatile\nAudit=\nReadKMsg=no\nRateLimitIntervalSec=0\nForwardToSyslog=no\n' \
	> /run/systemd/journald.conf.d/test.conf
echo 0123456789abcdef0123456789abcdef > /run/machine-id
mount --bind /run/machine-id /etc/machine-id
exec sleep infinity
`

const program = "/lib/systemd/systemd-journald"

// daemon is a systemd-journald in a mount namespace of its own, which outlives
// it: another one finds the journal of the one before.
type daemon struct {
	socket  string // as seen from here
	dir     string // of its journal
	holder  int    // pid of what keeps the namespace
	process *process
}

// process is a program that ends with the test, also when the test is killed.
type process struct {
	*os.Process
	ended  chan struct{}
	output bytes.Buffer
}

func start(t *testing.T, name string, args ...string) *process {
	t.Helper()
	cmd := exec.Command(name, args...)
	p := &process{ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &p.output, &p.output
	// In a group of its own: where the one that the tests are in loses its shell,
	// the kernel continues what is stopped in it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	started := make(chan error)
	go func() {
		// The kernel sends the death signal when the thread that forked ends.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // it ends by our signal; what it said is in output
			close(p.ended)
		}
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	p.Process = cmd.Process
	t.Cleanup(func() {
		p.end(syscall.SIGTERM)
		if t.Failed() {
			t.Logf("%s said:\n%s", name, p.output.String())
		}
	})
	return p
}

// end ends the process, by force if the signal does not.
func (p *process) end(signal os.Signal) {
	_ = p.Signal(syscall.SIGCONT)
	_ = p.Signal(signal)
	select {
	case <-p.ended:
	case <-time.After(10 * time.Second):
		_ = p.Kill()
		<-p.ended
	}
}

// startJournald starts a daemon that ends with the test.
func startJournald(t *testing.T) *daemon {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: journald runs in a mount namespace of its own")
	}
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("this test needs the Debian package systemd: %v", err)
	}
	holder := start(t, "unshare", "--mount", "--propagation", "private", "sh", "-c", setup, "sh")
	root := fmt.Sprintf("/proc/%d/root", holder.Pid)
	d := &daemon{
		socket: filepath.Join(root, "run/systemd/journal/socket"),
		dir:    filepath.Join(root, "run/log/journal"),
		holder: holder.Pid,
	}
	waitFor(t, "the namespace", func() bool {
		// /proc/<pid>/root is this namespace until unshare has made its own.
		id, err := os.ReadFile(filepath.Join(root, "etc/machine-id"))
		return err == nil && bytes.HasPrefix(id, []byte("0123456789abcdef"))
	})
	d.start(t)
	return d
}

// start starts a journald, the first one or another one.
func (d *daemon) start(t *testing.T) {
	t.Helper()
	if err := os.Remove(d.socket); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	d.process = start(t, "nsenter", fmt.Sprintf("--mount=/proc/%d/ns/mnt", d.holder), program)
	waitFor(t, "journald's socket", func() bool {
		_, err := os.Stat(d.socket)
		return err == nil
	})
}

type pair struct{ Name, Value string }

// find returns the records that match now.
func (d *daemon) find(t *testing.T, match ...string) [][]pair {
	t.Helper()
	args := append([]string{"--directory", d.dir, "--output", "export", "--quiet"}, match...)
	output, err := exec.Command("journalctl", args...).Output()
	if err != nil {
		return nil // nothing was written yet
	}
	records, err := parseExport(output)
	if err != nil {
		t.Fatal(err)
	}
	return records
}

// read returns the records that match, as soon as there are as many as wanted.
func (d *daemon) read(t *testing.T, count int, match ...string) (records [][]pair) {
	t.Helper()
	waitFor(t, fmt.Sprintf("%d records", count), func() bool {
		records = d.find(t, match...)
		return len(records) >= count
	})
	if len(records) != count {
		t.Errorf("%d records for %q, want %d", len(records), match, count)
	}
	return records
}

// parseExport reads the Journal Export Format:
// https://systemd.io/JOURNAL_EXPORT_FORMATS/
func parseExport(data []byte) ([][]pair, error) {
	var records [][]pair
	var record []pair
	for len(data) > 0 {
		line, rest, ok := bytes.Cut(data, []byte("\n"))
		switch name, value, text := bytes.Cut(line, []byte("=")); {
		case !ok:
			return nil, fmt.Errorf("no newline after %q", line)
		case len(line) == 0:
			records, record = append(records, record), nil
		case text:
			record = append(record, pair{string(name), string(value)})
		default:
			if len(rest) < 8 || uint64(len(rest)-8) <= binary.LittleEndian.Uint64(rest) {
				return nil, fmt.Errorf("length of %q leads beyond the end", line)
			}
			size := binary.LittleEndian.Uint64(rest)
			record = append(record, pair{string(line), string(rest[8 : 8+size])})
			rest = rest[8+size+1:]
		}
		data = rest
	}
	return records, nil
}

func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatalf("waited in vain for %s", what)
}
