//go:build linux

package guard_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/ward"
)

// TestContainersStartWhileTheJournalIsStopped: nobody waits for a journal that
// takes nothing, the decisions are the same, and the records of all come into
// it once it goes on, each once and in order.
func TestContainersStartWhileTheJournalIsStopped(t *testing.T) {
	journald := startJournald(t)
	settings := t.TempDir()
	w := ward.Ward{Policy: filepath.Join(settings, "policy.toml"), Audit: filepath.Join(settings, "audit.jsonl")}
	if err := w.WritePolicy(followData); err != nil {
		t.Fatal(err)
	}
	g := start(t, ward.Options{Raw: journalSettings(settings, "")})
	g.Policy, g.Audit = w.Policy, w.Audit
	source := t.TempDir()
	run := func(i int) string {
		return g.runOne(harness.Pod{
			Name: fmt.Sprintf("pod-%d", i), UID: fmt.Sprintf("uid-%d", i),
			Containers: []harness.Container{{
				Name:   "main",
				Mounts: []harness.ContainerMount{{HostPath: source, ContainerPath: "/data"}},
			}},
		})
	}
	ids := []string{run(0)}
	awaitJournal(t, "MOUNTWARD_EVENT=task", "CONTAINER_ID_FULL="+ids[0])

	stopProcess(t, journald.Pid)
	fillSocket(t, "/run/systemd/journal/socket")
	for i := range 8 {
		id := run(1 + i)
		g.await("decision", id) // in the file
		g.await("task", id)
		ids = append(ids, id)
	}
	kept, err := filepath.Glob(filepath.Join(settings, "run", "spool", "*.spool"))
	if err != nil || len(kept) == 0 {
		t.Errorf("segments %q, %v; want the records of eight pods", kept, err)
	}
	if err := journald.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	for _, event := range []string{"decision", "task"} {
		for _, id := range ids {
			awaitJournal(t, "MOUNTWARD_EVENT="+event, "CONTAINER_ID_FULL="+id)
		}
		var got []string
		for _, e := range journal(t, "MOUNTWARD_EVENT="+event) {
			got = append(got, e["CONTAINER_ID_FULL"][0])
		}
		if diff := cmp.Diff(ids, got); diff != "" {
			t.Errorf("%s records in the journal (-want +got):\n%s", event, diff)
		}
	}
	for _, e := range journal(t, "MOUNTWARD_EVENT=task", "CONTAINER_ID_FULL="+ids[len(ids)-1]) {
		if len(e["MOUNTWARD_TIME"]) != 1 {
			t.Errorf("record that waited has the times %q, want its own", e["MOUNTWARD_TIME"])
		}
	}
	// What the journal has is taken away a moment later.
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if kept, err = filepath.Glob(filepath.Join(settings, "run", "spool", "*.spool")); err != nil || len(kept) == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("segments %q, want none", kept)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// fillSocket leaves no room in the queue of a socket that nobody reads.
func fillSocket(t *testing.T, path string) {
	t.Helper()
	for range 1000 {
		fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		socket := os.NewFile(uintptr(fd), "filler")
		defer socket.Close()
		// One socket may have no more room of its own: the next one tells.
		for sent := 0; ; sent++ {
			err := syscall.Sendto(fd, []byte("MESSAGE=filler\n"), 0, &syscall.SockaddrUnix{Name: path})
			if errors.Is(err, syscall.EAGAIN) && sent == 0 {
				return
			}
			if errors.Is(err, syscall.EAGAIN) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Fatal("the queue does not fill")
}
