package audit

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/volumes"
)

// away is a journal whose socket is there and nobody listens.
func away(t *testing.T) (socket string) {
	t.Helper()
	socket, conn := listen(t)
	conn.Close() // the file stays
	if _, err := os.Stat(socket); err == nil {
		return socket
	}
	if err := os.WriteFile(socket, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return socket
}

// back lets a journal listen where it did, and returns what comes.
func back(t *testing.T, socket string) *net.UnixConn {
	t.Helper()
	if err := os.Remove(socket); err != nil {
		t.Fatal(err)
	}
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func numbered(i int) Event {
	return Task{Container: Container{ID: fmt.Sprint(i), Name: "app"}}
}

func TestEventsAndWarningsWaitForTheJournalAndOtherLinesAreCounted(t *testing.T) {
	t.Parallel()
	socket, dir := away(t), filepath.Join(t.TempDir(), "spool")
	trail := open(t, Options{Journal: true, JournalSocket: socket, Spool: dir, Now: noon})
	trail.Record(numbered(1))
	trail.Logger().WithTime(noon()).Info("information")
	trail.Logger().WithTime(noon()).Warn("warning")
	trail.Record(numbered(2))
	waitFor(t, func() bool { return trail.Counts() == Counts{Skipped: 1, Waiting: 3} })

	conn := back(t, socket)
	var messages, times []string
	for range 5 {
		got := receive(t, conn)
		messages = append(messages, values(got, "MESSAGE")...)
		times = append(times, values(got, "MOUNTWARD_TIME")...)
	}
	want := []string{
		"container app started, root filesystem on a device not known; 0 mounts, 0 on logical volumes",
		"warning",
		"container app started, root filesystem on a device not known; 0 mounts, 0 on logical volumes",
		"records that had to wait for journal " + socket + " were sent, each with its time in MOUNTWARD_TIME (records=3)",
		"lines of the log below warning were not kept for journal " + socket + " while it was away; no event is among them (lines=1)",
	}
	if diff := cmp.Diff(want, messages); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"2026-03-01T12:00:00Z", "2026-03-01T12:00:00Z", "2026-03-01T12:00:00Z"}, times); diff != "" {
		t.Errorf("times (-want +got):\n%s", diff)
	}
	trail.Record(numbered(3))
	if got := receive(t, conn); len(values(got, "MOUNTWARD_TIME")) != 0 {
		t.Errorf("a record that did not wait has the time %q", values(got, "MOUNTWARD_TIME"))
	}
	waitFor(t, func() bool { return trail.Counts() == Counts{Sent: 4, Skipped: 1} })
}

func TestAFullSpoolLosesCountsAndSaysSo(t *testing.T) {
	t.Parallel()
	socket, dir := away(t), filepath.Join(t.TempDir(), "spool")
	trail := open(t, Options{Journal: true, JournalSocket: socket, Spool: dir})
	const more = 100
	for i := range uint64(spoolRecords + more) {
		for c := trail.Counts(); c.Waiting+c.Lost+queueRecords/2 < i; c = trail.Counts() {
			time.Sleep(time.Millisecond)
		}
		trail.Record(numbered(int(i)))
	}
	waitFor(t, func() bool { return trail.Counts() == Counts{Lost: more, Waiting: spoolRecords, Losing: true} })
	conn := back(t, socket)
	for i := range spoolRecords {
		if got := values(receive(t, conn), "CONTAINER_ID_FULL"); len(got) != 1 || got[0] != strconv.Itoa(i) {
			t.Fatalf("record %d is of %q", i, got)
		}
		if i == 1000 {
			trail.Record(numbered(-1)) // goes behind what waits
		}
	}
	if got := values(receive(t, conn), "CONTAINER_ID_FULL"); len(got) != 1 || got[0] != "-1" {
		t.Errorf("the last record is of %q, want -1", got)
	}
	receive(t, conn) // that they were sent
	if got := values(receive(t, conn), "MOUNTWARD_LOST"); len(got) != 1 || got[0] != strconv.Itoa(more) {
		t.Errorf("said to be lost: %q, want %d", got, more)
	}
}

// What a killed process leaves is what is in its files at that moment: a copy of
// them stands for it.
func TestWhatWasSentBeforeAKillIsNotSentAgain(t *testing.T) {
	t.Parallel()
	socket, dir := away(t), filepath.Join(t.TempDir(), "spool")
	trail := open(t, Options{Journal: true, JournalSocket: socket, Spool: dir})
	const total, taken = 3000, 1000
	for i := range total {
		trail.Record(numbered(i))
	}
	waitFor(t, func() bool { return trail.Counts().Waiting == total })
	conn := back(t, socket)
	for range taken {
		receive(t, conn)
	}
	left, copied := filepath.Join(t.TempDir(), "left"), make(chan error, 1)
	// While it is told of a record, the trail does nothing else to the files.
	trail.RecordThen(numbered(total), func(bool) { copied <- os.CopyFS(left, os.DirFS(dir)) })
	if err := <-copied; err != nil {
		t.Fatal(err)
	}
	next := away(t)
	conn = back(t, next)
	open(t, Options{Journal: true, JournalSocket: next, Spool: left})
	first := -1
	for want := -1; want <= total; want++ {
		got := values(receive(t, conn), "CONTAINER_ID_FULL")
		if first < 0 {
			var err error
			if first, err = strconv.Atoi(got[0]); err != nil {
				t.Fatal(err)
			}
			want = first
		}
		if got[0] != strconv.Itoa(want) {
			t.Fatalf("a record of %q, want %d", got, want)
		}
		if want == total {
			break
		}
	}
	// The one that was under way may come again.
	if first < taken-1 {
		t.Errorf("%d of %d records that had arrived were sent again", taken-first, taken)
	}
}

func TestTheNextProcessSaysWhatThisOneLost(t *testing.T) {
	t.Parallel()
	socket, dir := away(t), filepath.Join(t.TempDir(), "spool")
	trail := open(t, Options{Journal: true, JournalSocket: socket, Spool: dir})
	trail.Record(Task{Container: Container{Name: strings.Repeat("x", spoolBytes)}})
	// While it is in the queue, nothing else has room there.
	waitFor(t, func() bool { return trail.Counts().Lost == 1 })
	trail.Record(numbered(1))
	closeTrail(t, trail)
	if got := trail.Counts(); got.Lost != 1 {
		t.Errorf("counts %+v, want one lost", got)
	}
	conn := back(t, socket)
	open(t, Options{Journal: true, JournalSocket: socket, Spool: dir})
	if got := values(receive(t, conn), "CONTAINER_ID_FULL"); len(got) != 1 || got[0] != "1" {
		t.Errorf("the first record is of %q, want 1", got)
	}
	if got := values(receive(t, conn), "MOUNTWARD_LOST"); len(got) != 1 || got[0] != "1" {
		t.Errorf("said to be lost: %q, want 1", got)
	}
}

// A start without a journal has the fallback file, and no spool that nobody
// would ever empty.
func TestWithoutAJournalAtTheStartNothingIsSpooled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	trail := open(t, Options{
		Journal: true, JournalSocket: filepath.Join(dir, "socket"), Spool: filepath.Join(dir, "spool"),
		Fallback: filepath.Join(dir, "audit.jsonl"),
	})
	trail.Record(numbered(1))
	closeTrail(t, trail)
	if got := trail.Counts(); got != (Counts{Sent: 1}) {
		t.Errorf("counts %+v", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "spool")); !os.IsNotExist(err) {
		t.Errorf("spool: %v, want none", err)
	}
}

// A record that a journal which is there refuses must not hold up the others
// for good. A stream socket in the journal's place refuses all.
func TestWhatTheJournalRefusesIsGivenUp(t *testing.T) {
	t.Parallel()
	socket := away(t)
	if err := os.Remove(socket); err != nil {
		t.Fatal(err)
	}
	stream, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	trail := open(t, Options{Journal: true, JournalSocket: socket, Spool: filepath.Join(t.TempDir(), "spool")})
	trail.Record(numbered(1))
	waitFor(t, func() bool { return trail.Counts() == Counts{Lost: 1} })
	stream.Close()
	if err := os.WriteFile(socket, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	conn := back(t, socket)
	trail.Record(numbered(2))
	if got := values(receive(t, conn), "CONTAINER_ID_FULL"); len(got) != 1 || got[0] != "2" {
		t.Errorf("the next record is of %q, want 2", got)
	}
}

func TestDamageInTheSpoolIsCountedAndSaid(t *testing.T) {
	t.Parallel()
	socket, dir := away(t), filepath.Join(t.TempDir(), "spool")
	trail := open(t, Options{Journal: true, JournalSocket: socket, Spool: dir})
	for i := range 3 {
		trail.Record(numbered(i))
	}
	closeTrail(t, trail)
	segments, err := filepath.Glob(filepath.Join(dir, "*.spool"))
	if err != nil || len(segments) != 1 {
		t.Fatalf("segments %q, %v", segments, err)
	}
	data, err := os.ReadFile(segments[0])
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)-5] ^= 1
	if err := os.WriteFile(segments[0], data, 0o600); err != nil {
		t.Fatal(err)
	}
	conn := back(t, socket)
	next := open(t, Options{Journal: true, JournalSocket: socket, Spool: dir})
	for i := range 2 {
		if got := values(receive(t, conn), "CONTAINER_ID_FULL"); len(got) != 1 || got[0] != strconv.Itoa(i) {
			t.Errorf("record %d is of %q", i, got)
		}
	}
	receive(t, conn) // that they were sent
	said := receive(t, conn)
	if diff := cmp.Diff([]string{"damaged in the spool " + dir}, values(said, "MOUNTWARD_ERROR")); diff != "" {
		t.Errorf("said (-want +got):\n%s", diff)
	}
	waitFor(t, func() bool { return next.Counts() == Counts{Sent: 2, Lost: 1} })
}

func TestTheDirectoryMayBeRemovedMeanwhile(t *testing.T) {
	t.Parallel()
	socket, dir := away(t), filepath.Join(t.TempDir(), "run", "spool")
	trail := open(t, Options{Journal: true, JournalSocket: socket, Spool: dir})
	trail.Record(numbered(1))
	waitFor(t, func() bool { return trail.Counts().Waiting == 1 })
	conn := back(t, socket)
	receive(t, conn)
	waitFor(t, func() bool { return trail.Counts() == Counts{Sent: 1} })
	conn.Close()
	if err := os.RemoveAll(filepath.Dir(dir)); err != nil {
		t.Fatal(err)
	}
	trail.Record(numbered(2))
	waitFor(t, func() bool { return trail.Counts() == Counts{Sent: 1, Waiting: 1} })
}

type panicking struct{ Task }

func (panicking) describe() description            { panic("no such mount") }
func (p panicking) copied() (event Event, n int64) { return p, 1 }

func TestAPanicInARecordIsRecordedInItsPlace(t *testing.T) {
	t.Parallel()
	gate := &gateSink{open: make(chan struct{})}
	close(gate.open)
	trail := start([]*destination{{sink: gate}}, nil)
	trail.Record(panicking{Task{Container: testContainer(), Task: volumes.Task{}}})
	trail.Record(numbered(1))
	closeTrail(t, trail)
	got := gate.records()
	if len(got) != 2 || got[0].event != "crash" || got[1].event != "task" {
		t.Fatalf("records %v", got)
	}
	want := `mountward panicked in "record of audit.panicking": "no such mount"`
	if diff := cmp.Diff(want, got[0].message); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
}
