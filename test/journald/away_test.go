package journald_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/audit"
)

// awayEvents is how many events are recorded while journald is away.
const awayEvents = 900

// numbered is an event that can be told from the others.
func numbered(i int) audit.Event {
	return audit.Task{Container: audit.Container{ID: fmt.Sprintf("c%d", i), Name: "app"}}
}

// numbers returns which events are in the journal, in its order.
func (d *daemon) numbers(t *testing.T, count int) []int {
	t.Helper()
	var got []int
	for _, record := range d.read(t, count, "MESSAGE_ID="+audit.IDTask) {
		var event struct {
			Time      time.Time
			Container struct{ ID string }
		}
		if err := json.Unmarshal([]byte(all(record, "MOUNTWARD_RECORD")[0]), &event); err != nil {
			t.Fatal(err)
		}
		i, err := strconv.Atoi(event.Container.ID[1:])
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, i)
		// Of one that had to wait the journal's own time is another.
		for _, text := range all(record, "MOUNTWARD_TIME") {
			if when, err := time.Parse(time.RFC3339Nano, text); err != nil || !when.Equal(event.Time) {
				t.Errorf("time %s of event %d, %v; want %s", text, i, err, event.Time)
			}
		}
	}
	return got
}

func upTo(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

func newTrail(t *testing.T, o audit.Options) *audit.Trail {
	t.Helper()
	trail, err := audit.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeTrail(t, trail) })
	return trail
}

func closeTrail(t *testing.T, trail *audit.Trail) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := trail.Close(ctx); err != nil {
		t.Error(err)
	}
}

func TestNothingIsLostWhileJournaldIsAway(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		time            time.Duration // it is away
		leave, comeBack func(*testing.T, *daemon)
	}{
		"stopped": {
			30 * time.Second,
			func(t *testing.T, d *daemon) { signal(t, d, syscall.SIGSTOP) },
			func(t *testing.T, d *daemon) { signal(t, d, syscall.SIGCONT) },
		},
		"killed and started again": {
			6 * time.Second,
			func(_ *testing.T, d *daemon) { d.process.end(syscall.SIGKILL) },
			func(t *testing.T, d *daemon) { d.start(t) },
		},
		"its socket is gone": {
			6 * time.Second,
			func(t *testing.T, d *daemon) {
				d.process.end(syscall.SIGKILL)
				if err := os.Remove(d.socket); err != nil {
					t.Fatal(err)
				}
			},
			func(t *testing.T, d *daemon) { d.start(t) },
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := startJournald(t)
			file := filepath.Join(t.TempDir(), "audit.jsonl")
			trail := newTrail(t, audit.Options{
				Journal: true, JournalSocket: d.socket, Spool: filepath.Join(t.TempDir(), "spool"), File: file,
			})
			const before = 5
			for i := range before {
				trail.Record(numbered(i))
			}
			d.read(t, before, "MESSAGE_ID="+audit.IDTask)
			test.leave(t, d)
			for i := range awayEvents {
				trail.Record(numbered(before + i))
				time.Sleep(test.time / awayEvents)
			}
			waitFor(t, "all lines of the file", func() bool { return lines(t, file) >= before+awayEvents })
			if waiting := trail.Counts().Waiting; waiting == 0 || waiting > awayEvents {
				t.Errorf("%d wait, want some", waiting)
			}
			test.comeBack(t, d)
			for i := range before {
				trail.Record(numbered(before + awayEvents + i))
			}
			const total = before + awayEvents + before
			waitFor(t, "nothing to wait", func() bool { c := trail.Counts(); return c.Waiting == 0 && c.Sent >= total })
			if c := trail.Counts(); c.Lost != 0 || c.Sent != total {
				t.Errorf("counts %+v, want %d sent and none lost", c, total)
			}
			if diff := gocmp.Diff(upTo(total), d.numbers(t, total)); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			t.Logf("%d of %d events arrived", len(d.numbers(t, total)), total)
		})
	}
}

// signal sends a signal to journald. One to stop it has done so on return.
func signal(t *testing.T, d *daemon, s syscall.Signal) {
	t.Helper()
	if err := d.process.Signal(s); err != nil {
		t.Fatal(err)
	}
	if s != syscall.SIGSTOP {
		return
	}
	waitFor(t, "journald to stand still", func() bool {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", d.process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		_, state, _ := strings.Cut(string(text), ") ")
		return strings.HasPrefix(state, "T")
	})
}

func lines(t *testing.T, path string) int {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, b := range data {
		if b == '\n' {
			n++
		}
	}
	return n
}

// writerEvents is how many events the process that is killed leaves.
const writerEvents = 2000

// The environment of the process that the next tests kill.
const (
	writerSocket = "TEST_WRITER_SOCKET"
	writerSpool  = "TEST_WRITER_SPOOL"
)

func TestMain(m *testing.M) {
	if socket := os.Getenv(writerSocket); socket != "" {
		fmt.Println(record(socket, os.Getenv(writerSpool)))
		select {} // until it is killed
	}
	os.Exit(m.Run())
}

// record records events no faster than they are written.
func record(socket, dir string) string {
	trail, err := audit.New(audit.Options{Journal: true, JournalSocket: socket, Spool: dir})
	if err != nil {
		return err.Error()
	}
	for i := range writerEvents {
		trail.Record(numbered(i))
		for c := trail.Counts(); c.Sent+c.Waiting+1000 < uint64(i); c = trail.Counts() {
			time.Sleep(time.Millisecond)
		}
	}
	for c := trail.Counts(); c.Sent+c.Waiting < writerEvents; c = trail.Counts() {
		time.Sleep(time.Millisecond)
	}
	return "recorded"
}

// startWriter starts a process that records while journald is stopped, and
// returns when all is in the spool.
func startWriter(t *testing.T, d *daemon, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), writerSocket+"="+d.socket, writerSpool+"="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "recorded\n" {
		t.Fatalf("the writer said %q, %v", line, err)
	}
	return cmd
}

func TestTheNextProcessSendsWhatAKilledOneLeft(t *testing.T) {
	t.Parallel()
	d := startJournald(t)
	dir := filepath.Join(t.TempDir(), "spool")
	signal(t, d, syscall.SIGSTOP)
	writer := startWriter(t, d, dir)
	if err := writer.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = writer.Wait() // it was killed
	signal(t, d, syscall.SIGCONT)
	trail := newTrail(t, audit.Options{Journal: true, JournalSocket: d.socket, Spool: dir})
	waitFor(t, "nothing to wait", func() bool { c := trail.Counts(); return c.Waiting == 0 && c.Sent > 0 })
	if diff := gocmp.Diff(upTo(writerEvents), d.numbers(t, writerEvents)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// The one event that was sent and not yet marked may come twice.
func TestAProcessKilledWhileItSendsRepeatsAtMostOneEvent(t *testing.T) {
	t.Parallel()
	d := startJournald(t)
	dir := filepath.Join(t.TempDir(), "spool")
	signal(t, d, syscall.SIGSTOP)
	writer := startWriter(t, d, dir)
	signal(t, d, syscall.SIGCONT)
	time.Sleep(40 * time.Millisecond) // some of them, if the machine is as fast as that; none or all do no harm
	signal(t, d, syscall.SIGSTOP)
	if err := writer.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = writer.Wait() // it was killed
	signal(t, d, syscall.SIGCONT)
	trail := newTrail(t, audit.Options{Journal: true, JournalSocket: d.socket, Spool: dir})
	waitFor(t, "nothing to wait", func() bool { c := trail.Counts(); return c.Waiting == 0 && c.Sent > 0 })
	t.Logf("%d were left for the next process", trail.Counts().Sent)
	trail.Record(numbered(writerEvents)) // behind all of them
	d.read(t, 1, fmt.Sprintf("CONTAINER_ID_FULL=c%d", writerEvents))
	got := d.numbers(t, len(d.find(t, "MESSAGE_ID="+audit.IDTask)))
	got = got[:len(got)-1]
	repeated := 0
	for i := 1; i < len(got); i++ {
		if got[i] == got[i-1] {
			repeated++
		}
	}
	if len(got) > writerEvents+1 || repeated != len(got)-writerEvents || got[len(got)-1] != writerEvents-1 {
		t.Errorf("%d events, %d repeated, the last is %d; want %d and at most one repeated", len(got), repeated, got[len(got)-1], writerEvents)
	}
	t.Logf("%d events, %d repeated", len(got), repeated)
}

func TestAFullDiskIsCountedAndSaidAndTheTrailGoesOn(t *testing.T) {
	t.Parallel()
	d := startJournald(t)
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	trail, err := audit.New(audit.Options{Journal: true, JournalSocket: d.socket, Spool: filepath.Join(dir, "spool")})
	if err != nil {
		t.Fatal(err)
	}
	signal(t, d, syscall.SIGSTOP)
	const total = 600
	for i := range total {
		trail.Record(numbered(i))
	}
	waitFor(t, "a loss", func() bool { c := trail.Counts(); return c.Lost > 0 && c.Sent+c.Lost+c.Waiting == total })
	before := trail.Counts()
	signal(t, d, syscall.SIGCONT)
	waitFor(t, "nothing to wait", func() bool { return trail.Counts().Waiting == 0 })
	trail.Record(numbered(total))
	closeTrail(t, trail)
	c := trail.Counts()
	if c.Lost != before.Lost || c.Sent+c.Lost != total+1 {
		t.Errorf("counts %+v after %+v; want %d accounted for", c, before, total+1)
	}
	got := d.numbers(t, int(c.Sent))
	if got[len(got)-1] != total {
		t.Errorf("the last event is %d, want %d", got[len(got)-1], total)
	}
	said := d.read(t, 1, "MOUNTWARD_LOST="+strconv.FormatUint(c.Lost, 10))
	if message := all(said[0], "MESSAGE"); len(message) != 1 {
		t.Errorf("said %q", message)
	} else {
		t.Log(message[0])
	}
}

// A second process with the same directory keeps its hands off.
func TestASecondProcessDoesNotSendWhatTheFirstOneKeeps(t *testing.T) {
	t.Parallel()
	d := startJournald(t)
	dir := filepath.Join(t.TempDir(), "spool")
	first := newTrail(t, audit.Options{Journal: true, JournalSocket: d.socket, Spool: dir})
	signal(t, d, syscall.SIGSTOP)
	const total = 400
	for i := range total {
		first.Record(numbered(i))
	}
	waitFor(t, "records to wait", func() bool { return first.Counts().Waiting > 0 })
	second := newTrail(t, audit.Options{Journal: true, JournalSocket: d.socket, Spool: dir})
	second.Record(numbered(total))
	waitFor(t, "the second one's to be lost", func() bool { return second.Counts().Lost == 1 })
	signal(t, d, syscall.SIGCONT)
	waitFor(t, "nothing to wait", func() bool { return first.Counts().Waiting == 0 })
	if diff := gocmp.Diff(upTo(total), d.numbers(t, total)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if sent := second.Counts().Sent; sent != 0 {
		t.Errorf("the second one sent %d", sent)
	}
}
