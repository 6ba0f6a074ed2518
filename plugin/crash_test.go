package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mountward/mountward/pkg/audit"
	"github.com/mountward/mountward/pkg/settings"
)

// crashTest has the settings of a daemon that is to crash in this process, and
// crashHow the way.
const (
	crashTest = "MOUNTWARD_TEST_CRASH"
	crashHow  = "MOUNTWARD_TEST_CRASH_HOW"
)

// crash starts a daemon and ends it in a way that nothing recovers from.
func crash(config, how string) {
	d := newDaemon(settings.Source{Path: config, Explicit: true}, nil)
	d.start("")
	switch how {
	case "panic":
		go func() { panic("boom\nMESSAGE_ID=forged") }()
		time.Sleep(time.Minute)
	case "fatal":
		new(sync.Mutex).Unlock()
	}
	d.close()
	os.Exit(0)
}

func runCrash(t *testing.T, n *node, how string) {
	t.Helper()
	// With output that leads nowhere, as containerd starts us.
	p, err := os.StartProcess(os.Args[0], os.Args[:1], &os.ProcAttr{
		Env:   append(os.Environ(), crashTest+"="+n.settings, crashHow+"="+how),
		Files: []*os.File{nil, nil, nil},
	})
	if err != nil {
		t.Fatal(err)
	}
	state, err := p.Wait()
	if err != nil || state.Success() != (how == "peace") {
		t.Fatalf("the daemon ended with %v, %v", state, err)
	}
}

// crashes returns the crash records of a daemon that starts and ends.
func crashes(t *testing.T, n *node) (all []audit.Crash) {
	t.Helper()
	if err := os.Remove(filepath.Join(n.dir, "audit.jsonl")); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	d := n.daemon()
	d.start("")
	for line := range strings.Lines(n.trail(d)) {
		var record struct {
			Schema string
			audit.Crash
		}
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatal(err)
		}
		if record.Schema == "mountward.crash/v1" {
			all = append(all, record.Crash)
		}
	}
	return all
}

func TestWhatEndedTheDaemonIsInTheTrailOnce(t *testing.T) {
	for how, want := range map[string]string{
		"panic": "panic: boom\n\tMESSAGE_ID=forged",
		"fatal": fatalText,
	} {
		t.Run(how, func(t *testing.T) {
			n := newNode(t, auditing, "")
			begun := time.Now().Add(-time.Second)
			runCrash(t, n, how)
			got := crashes(t, n)
			if len(got) != 1 {
				t.Fatalf("%d crash records, want 1", len(got))
			}
			c := got[0]
			if !strings.HasPrefix(c.Panic, want) || !strings.Contains(c.Stack, "plugin.crash") && !strings.Contains(c.Stack, "main.crash") || !c.Fatal || c.At.Before(begun) {
				t.Errorf("record %+v, want %q", c, want)
			}
			if again := crashes(t, n); len(again) != 0 {
				t.Errorf("told once more: %+v", again)
			}
		})
	}
}

func TestADaemonThatEndedInPeaceLeavesNothingToTell(t *testing.T) {
	n := newNode(t, auditing, "")
	runCrash(t, n, "peace")
	if got := crashes(t, n); len(got) != 0 {
		t.Errorf("told: %+v", got)
	}
}

// The file of a daemon that lives is not taken from it.
func TestASecondDaemonLeavesTheFileOfTheFirstAlone(t *testing.T) {
	n := newNode(t, auditing, "")
	dir := filepath.Join(n.dir, "state", "crash")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(filepath.Join(dir, "1"+crashText))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := lockNow(file); err != nil {
		t.Fatal(err)
	}
	if got := crashes(t, n); len(got) != 0 {
		t.Errorf("told: %+v", got)
	}
	if _, err := file.WriteString("panic: late\n\ngoroutine 1"); err != nil {
		t.Fatal(err)
	}
	file.Close() // it has ended
	if got := crashes(t, n); len(got) != 1 || got[0].Panic != "panic: late" {
		t.Errorf("told: %+v, want the late one", got)
	}
}

func TestOnlyTheLastCrashesAreKept(t *testing.T) {
	n := newNode(t, auditing, "")
	dir := filepath.Join(n.dir, "state", "crash")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	large := "panic: x\n\n" + strings.Repeat("goroutine\n", maxCrash)
	for _, name := range []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"} {
		if err := os.WriteFile(filepath.Join(dir, name+crashText), []byte(large), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := crashes(t, n); len(got) != 9 {
		t.Errorf("%d told, want 9", len(got))
	}
	kept, err := filepath.Glob(filepath.Join(dir, "*"+crashTold))
	if err != nil || len(kept) != crashesKept || filepath.Base(kept[0]) != "5"+crashTold {
		t.Errorf("kept %q, %v", kept, err)
	}
	for _, path := range kept {
		if info, err := os.Stat(path); err != nil || info.Size() > maxCrash {
			t.Errorf("%s: %v, %v", path, info.Size(), err)
		}
	}
}
