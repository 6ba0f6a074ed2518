package main

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"

	"github.com/mountward/mountward/pkg/control"
)

// manager is the service manager's end, which reads at once, as systemd does.
type manager struct {
	t    *testing.T
	path string
	says chan string
}

func newManager(t *testing.T) *manager {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Net: "unixgram", Name: path})
	if err != nil {
		t.Fatal(err)
	}
	m := &manager{t, path, make(chan string, 1<<16)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		b := make([]byte, 4096)
		for {
			n, err := socket.Read(b)
			if err != nil {
				return // closed
			}
			m.says <- string(b[:n])
		}
	}()
	t.Cleanup(func() { _ = socket.Close(); <-done })
	return m
}

// until returns what is heard up to the first notification with a text.
func (m *manager) until(text string) (heard []string) {
	m.t.Helper()
	end := time.After(20 * time.Second)
	for {
		select {
		case one := <-m.says:
			heard = append(heard, one)
			if strings.Contains(one, text) {
				return heard
			}
		case <-end:
			m.t.Fatalf("no %q in %d notifications, the last %q", text, len(heard), heard[max(0, len(heard)-3):])
		}
	}
}

func heard(all []string, text string) bool { return strings.Contains(strings.Join(all, "\n\n"), text) }

// beats runs the pulse of a daemon until the test ends.
func beats(t *testing.T, d *daemon, m *manager, grace time.Duration) *pulse {
	t.Helper()
	p := &pulse{daemon: d, notify: control.NewNotifier(m.path), every: 5 * time.Millisecond, grace: grace}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { p.run(ctx); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
	return p
}

func connected() link {
	var events api.EventMask
	events.Set(api.Event_VALIDATE_CONTAINER_ADJUSTMENT)
	return link{runtime: "containerd", version: "v2.4.2", nri: "v0.12.3", timeout: 2 * time.Second, events: events}
}

// TestReadyOnceTheRuntimeAsksUs: not when we are only connected, and not by a
// reload.
func TestReadyOnceTheRuntimeAsksUs(t *testing.T) {
	n, m := newNode(t, auditing, ""), newManager(t)
	d := n.daemon()
	now := time.Now() // for the whole test: a busy machine may be late with a beat
	d.now = func() time.Time { return now }
	p := beats(t, d, m, time.Hour)
	d.start("")
	before := m.until("NOT CONNECTED")
	d.state.configured(connected())
	p.reload()
	before = append(before, m.until("WATCHDOG=1")...)
	before = append(before, m.until("WATCHDOG=1")...)
	if heard(before, "READY=1") || heard(before, "RELOADING=1") {
		t.Errorf("too early: %q", before)
	}
	d.state.synchronized()
	at := m.until("READY=1")
	if last := at[len(at)-1]; !strings.Contains(last, "STATUS=mode audit, rules: 0, policy ") || !strings.Contains(last, "containerd 2.4.2, no decision yet") {
		t.Errorf("ready: %q", last)
	}
	d.state.decided(d.now())
	m.until("last decision 0s ago")
	p.reload()
	reload := append(m.until("RELOADING=1\nMONOTONIC_USEC="), m.until("READY=1")...)
	if !strings.Contains(reload[len(reload)-1], "containerd 2.4.2") {
		t.Errorf("after the reload: %q", reload[len(reload)-1])
	}
	if _, err := d.Emergency(time.Hour); err != nil {
		t.Fatal(err)
	}
	m.until("STANDS ASIDE: emergency")
	d.state.disconnected(d.now(), errors.New("it is gone"))
	m.until("NOT CONNECTED (it is gone)")
}

// TestReadyWithoutARuntime after a time: the node must come up.
func TestReadyWithoutARuntime(t *testing.T) {
	n, m := newNode(t, auditing, ""), newManager(t)
	d := n.daemon()
	d.start("")
	beats(t, d, m, 30*time.Millisecond)
	at := m.until("READY=1")
	if last := at[len(at)-1]; !strings.Contains(last, "NOT CONNECTED") {
		t.Errorf("ready: %q", last)
	}
}

// TestNoSignOfLifeWithoutLife: where requests hang, or a lock is never given back
// that every request needs. Each beat is asked for, so that what is heard is of that
// beat: its status ends it.
func TestNoSignOfLifeWithoutLife(t *testing.T) {
	n, m := newNode(t, auditing, ""), newManager(t)
	d := n.daemon()
	d.start("")
	p := &pulse{daemon: d, notify: control.NewNotifier(m.path)}
	alive := func() bool {
		t.Helper()
		p.beat(false)
		return heard(m.until("STATUS="), "WATCHDOG=1")
	}
	if !alive() {
		t.Error("no sign of life, and nothing hangs")
	}
	d.working.Store(maxOverdue)
	for range 3 {
		if alive() {
			t.Error("a sign of life while every request hangs")
		}
	}
	d.working.Store(0)
	if !alive() {
		t.Error("no sign of life once they go on")
	}

	d.crisis.mu.Lock()
	done := make(chan struct{})
	go func() { p.beat(false); close(done) }()
	select {
	case one := <-m.says:
		t.Errorf("%q while a lock is not given back", one)
	case <-time.After(100 * time.Millisecond): // longer would find no less
	}
	d.crisis.mu.Unlock()
	<-done
	if !heard(m.until("STATUS="), "WATCHDOG=1") {
		t.Error("no sign of life once it is given back")
	}
}

// TestOnlyWatchingCounts: time in which the policy was in audit mode and asked
// about every container.
func TestOnlyWatchingCounts(t *testing.T) {
	for name, test := range map[string]struct {
		policy string
		change func(*daemon)
		counts bool
	}{
		"watching":      {auditing, func(*daemon) {}, true},
		"enforcing":     {enforcing, func(*daemon) {}, false},
		"not connected": {auditing, func(d *daemon) { d.state.disconnected(d.now(), nil) }, false},
		"aside":         {auditing, func(d *daemon) { d.aside.Store(&aside{why: "x"}) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t, test.policy, "")
			d := n.daemon()
			d.start("")
			d.state.configured(connected())
			d.state.synchronized()
			test.change(d)
			now := time.Now()
			d.now = func() time.Time { return now }
			p := &pulse{daemon: d, last: now.Add(-time.Minute)}
			p.beat(false)
			if got := d.rollout.Tally().Watched; (got == 60) != test.counts || !test.counts && got != 0 {
				t.Errorf("%d s counted", got)
			}
		})
	}
}

// TestReadyGetsThrough: also where systemd was not to be reached at first.
func TestReadyGetsThrough(t *testing.T) {
	n := newNode(t, auditing, "")
	d := n.daemon()
	d.start("")
	path := filepath.Join(t.TempDir(), "notify")
	beats(t, d, &manager{t: t, path: path}, 0)
	time.Sleep(20 * time.Millisecond) // nobody listens yet
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Net: "unixgram", Name: path})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	if err := socket.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 4096)
	for {
		n, err := socket.Read(b)
		if err != nil {
			t.Fatalf("no READY=1: %v", err)
		}
		if strings.HasPrefix(string(b[:n]), "READY=1\n") {
			return
		}
	}
}
