//go:build linux

package guest

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const journald = "systemd-journald.service"

// TestJournalAway: while there is no journal, or one that takes nothing,
// containers are decided and start, and all that is to be recorded of them
// is in the journal later, each once.
func TestJournalAway(t *testing.T) {
	n := connect(t)
	enforce(t, guardPolicy)
	sockets := []string{"systemd-journald.socket", "systemd-journald-dev-log.socket"}
	for i, test := range []struct {
		name      string
		gone      time.Duration
		stop, end func(s *stack) error
	}{
		{
			"stopped", 30 * time.Second,
			func(*stack) error { return systemctl("stop", append(sockets, journald)...) },
			func(*stack) error { return systemctl("start", append(sockets, journald)...) },
		},
		{
			"hangs", 10 * time.Second,
			func(s *stack) error { return unix.Kill(pidOf(s, journald), unix.SIGSTOP) },
			func(s *stack) error { return unix.Kill(pidOf(s, journald), unix.SIGCONT) },
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newStack(t)
			end := func() {
				if err := test.end(s); err != nil {
					s.Error(err)
				}
			}
			if err := test.stop(s); err != nil {
				s.Fatal(err)
			}
			s.Cleanup(end)
			back := time.Now().Add(test.gone)
			pods := []*pod{
				n.decides(s, uid(770+10*i)), n.decides(s, uid(771+10*i)), n.decides(s, uid(772+10*i)),
			}
			if left := time.Until(back); left > 0 {
				time.Sleep(left)
			} else {
				s.Logf("three pods took %s longer than the journal was away", -left)
			}
			end()
			s.once(append(pods, n.decides(s, uid(773+10*i))))
			stays(t)
		})
	}
}

// once waits for the decision about each pod and for the record of its start, and
// wants each once.
func (s *stack) once(pods []*pod) {
	s.Helper()
	count := func() map[string]int {
		all, err := journal("MOUNTWARD_EVENT=decision", "MOUNTWARD_EVENT=task", s.recent())
		if err != nil {
			s.Fatal(err)
		}
		records := map[string]int{}
		for _, e := range all {
			records[e.first("MOUNTWARD_EVENT")+" of "+e.first("CONTAINER_ID_FULL")]++
		}
		return records
	}
	want := map[string]int{}
	for _, p := range pods {
		want["decision of "+p.id], want["task of "+p.id] = 1, 1
	}
	await(s.T, "all records", func() (any, error) {
		got := count()
		for record := range want {
			if got[record] == 0 {
				return nil, fmt.Errorf("no %s", record)
			}
		}
		return nil, nil
	})
	if got := count(); !maps.Equal(got, want) {
		s.Errorf("records: %v, want %v", got, want)
	}
}

func systemctl(verb string, units ...string) error {
	_, err := run("systemctl", append([]string{verb}, units...)...)
	return err
}

// pidOf is the main process of a unit.
func pidOf(s *stack, unit string) int {
	s.Helper()
	var pid int
	if _, err := fmt.Sscan(property(s.T, unit, "MainPID"), &pid); err != nil || pid == 0 {
		s.Fatalf("%s has no process: %d, %v", unit, pid, err)
	}
	return pid
}
