package pins

import (
	"strings"
	"testing"
	"time"

	"github.com/mountward/mountward/pkg/namespaces"
)

// TestAStartingContainerIsLookedAtAgain: runc's first moments are no holder, and
// one that stays is.
func TestAStartingContainerIsLookedAtAgain(t *testing.T) {
	for _, stays := range []bool{false, true} {
		f := newFixture(t)
		f.lv()
		with := root + "903 851 253:7 / /rootfs" + volume + " rw - xfs x rw"
		f.namespace(4026532701, namespaces.Process{PID: 900, Comm: "runc:[2:INIT]"}, with)
		if !stays {
			f.tables[4026532701] = []string{with, root}
		}
		r := f.find("vg0/pvc-1")
		if stays {
			wantHolders(t, r, "mount other 900")
			if !strings.Contains(r.Holders[0].Why, "still so after") {
				t.Errorf("why %q", r.Holders[0].Why)
			}
		} else if wantHolders(t, r); len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "just starting") {
			t.Errorf("notes %q", r.Notes)
		}
	}
}

// TestRuncThatHasBecomeTheContainerIsNotStarting: what runs in it by then is asked
// once more.
func TestRuncThatHasBecomeTheContainerIsNotStarting(t *testing.T) {
	for comm, starting := range map[string]bool{"agent\n": false, "runc:[2:INIT]\n": true} {
		f := newFixture(t)
		f.lv()
		f.namespace(4026532701, namespaces.Process{PID: 900, Comm: "runc:[2:INIT]"}, root+"903 851 253:7 / /data"+volume+" rw - xfs x rw")
		f.file("proc/900/comm", comm)
		r := f.find("vg0/pvc-1")
		wantHolders(t, r, "mount other 900")
		h := r.Holders[0]
		if got := strings.Contains(h.Why, "being started"); got != starting || h.Processes[0].Comm+"\n" != comm {
			t.Errorf("process %q: %+v, why %q", comm, h.Processes, h.Why)
		}
	}
}

// TestAContainerThatHasJustStartedIsLookedAtAgain: its process was read when runc
// had become it, and its table before.
func TestAContainerThatHasJustStartedIsLookedAtAgain(t *testing.T) {
	for name, test := range map[string]struct {
		started time.Time
		want    []string
	}{
		"just now":  {started: time.Now()},
		"long ago":  {time.Now().Add(-time.Hour), []string{"mount other 900"}},
		"not known": {time.Time{}, []string{"mount other 900"}},
	} {
		f := newFixture(t)
		f.lv()
		with := root + "903 851 253:7 / /rootfs" + volume + " rw - xfs x rw"
		f.namespace(4026532701, namespaces.Process{PID: 900, Comm: "agent", Started: test.started}, with)
		f.tables[4026532701] = []string{with, root}
		t.Log(name)
		wantHolders(t, f.find("vg0/pvc-1"), test.want...)
	}
}
