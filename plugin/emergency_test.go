package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mountward/mountward/pkg/control"
)

// runtimeDir is the runtime directory of the node's daemons.
func (n *node) runtimeDir() string { return filepath.Join(n.dir, "run") }

// TestAnEmergencyOutlivesTheDaemon: until its end, which is told also where nobody
// was there; and only one that a command has noted.
func TestAnEmergencyOutlivesTheDaemon(t *testing.T) {
	now := time.Now()
	for _, test := range []struct {
		name  string
		note  any // control.Emergency, or text
		aside bool
		says  string
	}{
		{"on", control.Emergency{Since: now.Add(-time.Minute), Until: now.Add(time.Hour)}, true, "it was on before this start"},
		{"over", control.Emergency{Since: now.Add(-time.Hour), Until: now.Add(-time.Minute)}, false, "its time was up while the daemon was away"},
		{"by a clock that was wrong", control.Emergency{Since: now.Add(time.Hour), Until: now.Add(2 * time.Hour)}, false, "emergency is over"},
		{"forged", `{"schema":"mountward.emergency-note/v1","until":"2999-01-01T00:00:00Z"}`, false, "no command wrote this"},
		{"damaged", "\x00", false, "invalid character"},
		{"none", nil, false, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := newNode(t, enforcing, "")
			switch note := test.note.(type) {
			case control.Emergency:
				if err := note.Write(n.runtimeDir()); err != nil {
					t.Fatal(err)
				}
			case string:
				if err := os.Mkdir(n.runtimeDir(), 0o700); err != nil {
					t.Fatal(err)
				}
				n.write(filepath.Join(n.runtimeDir(), "emergency.json"), note)
			}
			d := n.daemon()
			d.start("")
			if got := d.standsAside() != nil; got != test.aside {
				t.Errorf("stands aside: %t, want %t", got, test.aside)
			}
			_, noted, _ := control.ReadEmergency(n.runtimeDir())
			if noted != test.aside {
				t.Errorf("noted: %t, want %t", noted, test.aside)
			}
			trail := n.trail(d)
			if !strings.Contains(trail, test.says) || test.says == "" && strings.Contains(trail, "mountward.emergency") {
				t.Errorf("the trail says\n%s\nwant %q", trail, test.says)
			}
		})
	}
}

// TestEmergencyEndsOnce: by its time, by command, or replaced by another; and not
// where the daemon idles for another reason.
func TestEmergencyEndsOnce(t *testing.T) {
	n := newNode(t, enforcing, "")
	d := n.daemon()
	d.start("")
	begin := func(length time.Duration) {
		t.Helper()
		if warning, err := d.Emergency(length); err != nil || warning != "" {
			t.Fatalf("%q, %v", warning, err)
		}
	}
	if _, err := d.Emergency(0); err == nil {
		t.Error("an emergency ended that had not begun")
	}
	begin(time.Hour)
	first := d.timer()
	begin(time.Hour) // in its place: the first one's time says nothing any more
	first.Reset(0)
	time.Sleep(60 * time.Millisecond)
	if d.standsAside() == nil {
		t.Error("the first one's time ended the second")
	}
	if _, err := d.Emergency(0); err != nil || d.standsAside() != nil {
		t.Errorf("ended: %v", err)
	}
	// One whose time is up while another begins does not end that.
	d.crisis.mu.Lock()
	for _, length := range []time.Duration{time.Millisecond, time.Hour} {
		now := d.now()
		d.beginEmergency(control.Emergency{Since: now, Until: now.Add(length)}, length, "test")
		time.Sleep(20 * time.Millisecond)
	}
	d.crisis.mu.Unlock()
	time.Sleep(20 * time.Millisecond)
	if _, err := d.Emergency(0); err != nil {
		t.Errorf("it was ended: %v", err)
	}
	begin(20 * time.Millisecond)
	awaitEmergencyEnd(t, d)
	if d.standsAside() != nil {
		t.Error("it stands aside when the time is up")
	}
	d.aside.Store(&aside{why: "another instance", idle: true})
	begin(time.Hour)
	if _, err := d.Emergency(0); err != nil || d.standsAside() == nil || !d.standsAside().idle {
		t.Errorf("the end of an emergency ended more: %v", err)
	}
	trail := n.trail(d)
	if begun, ended := strings.Count(trail, `"begins":true`), strings.Count(trail, `"begins":false`); begun != 6 || ended != 4 {
		t.Errorf("%d begun, %d ended in\n%s", begun, ended, trail)
	}
}

// TestTheEndOfAnEmergencyLeavesALaterOne: another command has noted it meanwhile.
func TestTheEndOfAnEmergencyLeavesALaterOne(t *testing.T) {
	n := newNode(t, enforcing, "")
	d := n.daemon()
	d.start("")
	if _, err := d.Emergency(time.Hour); err != nil {
		t.Fatal(err)
	}
	later := control.Emergency{Since: time.Now(), Until: time.Now().Add(time.Hour)}
	if err := later.Write(n.runtimeDir()); err != nil {
		t.Fatal(err)
	}
	d.timer().Reset(0) // its time is up
	awaitEmergencyEnd(t, d)
	if d.followNote(); d.standsAside() == nil {
		t.Error("the later emergency is over with the first one")
	}
	// A command that ends it ends every one.
	if _, err := d.Emergency(0); err != nil {
		t.Error(err)
	}
	if _, noted, err := control.ReadEmergency(n.runtimeDir()); noted || err != nil {
		t.Errorf("it is noted still: %v", err)
	}
}

// timer is that of the emergency, which a test sets off when the time has come:
// by itself it may go off sooner than a busy machine has got there.
func (d *daemon) timer() *time.Timer {
	d.crisis.mu.Lock()
	defer d.crisis.mu.Unlock()
	return d.crisis.timer
}

// awaitEmergencyEnd waits until the time of an emergency is up.
func awaitEmergencyEnd(t *testing.T, d *daemon) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		d.crisis.mu.Lock()
		over := d.crisis.timer == nil
		d.crisis.mu.Unlock()
		if over {
			return
		}
		if time.Now().After(end) {
			t.Fatal("its time does not end it")
		}
	}
}

// TestAnEmergencyThatCannotBeNoted holds all the same, and who asked is told.
func TestAnEmergencyThatCannotBeNoted(t *testing.T) {
	n := newNode(t, enforcing, "")
	d := n.daemon()
	d.start("")
	if err := os.RemoveAll(n.runtimeDir()); err != nil {
		t.Fatal(err)
	}
	n.write(n.runtimeDir(), "no directory")
	warning, err := d.Emergency(time.Hour)
	d.followNote()
	if err != nil || !strings.Contains(warning, "ends when the daemon is restarted") || d.standsAside() == nil {
		t.Errorf("%q, %v", warning, err)
	}
}

// TestADaemonFollowsTheNote: the command that found no daemon stands in, and one
// that is there all the same, and hung, would refuse.
func TestADaemonFollowsTheNote(t *testing.T) {
	n := newNode(t, enforcing, "")
	d := n.daemon()
	d.start("")
	d.followNote()
	if d.standsAside() != nil {
		t.Error("it stands aside for nothing")
	}
	now := time.Now()
	if err := (control.Emergency{Since: now, Until: now.Add(time.Hour)}).Write(n.runtimeDir()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if d.followNote(); d.standsAside() == nil {
			t.Error("it decides")
		}
	}
	if err := control.RemoveEmergency(n.runtimeDir()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if d.followNote(); d.standsAside() != nil {
			t.Error("it stands aside without the note")
		}
	}
	trail := n.trail(d)
	if begun, ended := strings.Count(trail, `"begins":true`), strings.Count(trail, `"begins":false`); begun != 1 || ended != 1 {
		t.Errorf("%d begun, %d ended in\n%s", begun, ended, trail)
	}
}

// TestTheEmergencyOfTheOtherInstance holds for the one that takes over, from its
// first request on.
func TestTheEmergencyOfTheOtherInstance(t *testing.T) {
	n := newNode(t, enforcing, "")
	holder, d := n.daemon(), n.daemon()
	holder.start("")
	d.start("")
	if warning, err := holder.Emergency(time.Hour); err != nil || warning != "" {
		t.Fatalf("%q, %v", warning, err)
	}
	holder.close()
	if !d.takeOver() {
		t.Fatal("it does not take over")
	}
	if a := d.standsAside(); a == nil || a.idle {
		t.Errorf("aside: %+v", a)
	}
}
