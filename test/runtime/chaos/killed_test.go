//go:build linux

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/ward"
)

// TestKilledAtEveryStep is what chaos does by chance: mountward, or containerd and
// mountward, are killed in each step of a container's life. Nothing runs with more
// than the policy allows, and what ran is in the trail, or is said to be what
// nobody can tell.
func TestKilledAtEveryStep(t *testing.T) {
	c, out, must := begin(t, options{mode: "enforce", workers: 1, seed: 1})
	binary, err := ward.Faults()
	must(err)
	c.binary = binary
	before, err := harness.Mountinfo(0)
	must(err)
	must(c.beService())
	c.service.mortal = true
	for _, step := range []struct {
		at     string
		alone  bool // the container runs where mountward alone is killed
		both   bool // ... where containerd is as well
		untold bool // then nobody can tell whether it ran
	}{
		{"CreateContainer", false, false, false},
		{"CreateContainer:remembered", false, false, false},
		{"ValidateContainerAdjustment", false, false, false},
		{"StartContainer", true, false, true}, // alone with the mounts that were decided
		{"StartContainer:proved", true, false, true},
		{"StartContainer:recorded", true, false, false}, // the record can have been faster
		{"StopContainer", true, true, false},
		{"RemoveContainer", true, true, false},
	} {
		for how, runs := range map[string]bool{"kill": step.alone, "kill-all": step.both} {
			try := c.killedAt(t, step.at, how)
			table, err := c.ran(try.key)
			must(err)
			if ran := table != nil; ran != runs {
				t.Errorf("%s %s: the container's own code ran: %t", step.at, how, ran)
			}
			if how == "kill-all" && step.untold {
				c.awaitUntold(t, try)
			}
		}
	}
	// Where containerd is killed as soon as its code runs, it may know nothing of the
	// start that mountward was killed in.
	for range 4 {
		if table, err := c.ran(c.killedLate(t).key); err != nil || table == nil {
			t.Errorf("containerd killed at the start: the container's own code ran: %t, %v", table != nil, err)
		}
	}
	c.endService()
	after, err := harness.Mountinfo(0)
	must(err)
	must(c.judgeAll(lasting(before, after)))
	records, torn, err := c.records()
	must(err)
	must(c.judgeRecords(records))
	if wrong := c.wrong(); len(wrong) > 0 || len(torn) > 0 {
		must(c.report())
		t.Errorf("what must be 0 is not: %q, torn %q\n%s", wrong, torn, out)
	}
}

// pod makes a pod, and the try of a container in it.
func (c *chaos) pod(t *testing.T, name string) (*harness.Sandbox, *try) {
	t.Helper()
	s, err := c.node.RunSandbox(t.Context(), harness.Pod{Namespace: "chaos", Privileged: true})
	if err != nil {
		t.Fatal(err)
	}
	of := shapes()[slices.IndexFunc(shapes(), func(s shape) bool { return s.name == name })]
	return s, &try{uid: s.Pod.UID, name: of.name, shape: of, key: s.Pod.UID + "." + of.name}
}

// goesWrong has mountward do something once in a step of a container's life.
func (c *chaos) goesWrong(t *testing.T, at, what string) (path string) {
	t.Helper()
	path = filepath.Join(c.ward.Dir, "run", "fault")
	if err := os.WriteFile(path, []byte(at+" "+what+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// killedAt runs a container with a kill at a step of its life, and removes it when
// both are back.
func (c *chaos) killedAt(t *testing.T, at, how string) *try {
	t.Helper()
	s, try := c.pod(t, "lowered")
	fault, mark := c.goesWrong(t, at, how), c.mark()
	w := &worker{chaos: c, rng: c.random(at + how)}
	if w.create(t.Context(), s, try) == nil {
		if w.start(t.Context(), try) == nil {
			c.awaitReport(try)
		}
		_ = c.node.StopContainer(t.Context(), try.id)   // by then at the latest it
		_ = c.node.RemoveContainer(t.Context(), try.id) // happens, or with this
	}
	if _, err := os.Lstat(fault); err == nil {
		t.Fatalf("%s: nothing was killed", at)
	}
	if how == "kill-all" {
		if err := c.node.Restart(); err != nil {
			t.Fatal(err)
		}
	}
	c.back(t, s, try, mark)
	return try
}

// killedLate runs a container in whose start mountward is killed, and containerd as
// soon as the container's own code runs.
func (c *chaos) killedLate(t *testing.T) *try {
	t.Helper()
	s, try := c.pod(t, "unaffected") // whose creation leaves no record
	c.goesWrong(t, "StartContainer", "kill")
	mark := c.mark()
	w := &worker{chaos: c, rng: c.random("late")}
	if err := w.create(t.Context(), s, try); err != nil {
		t.Fatal(err)
	}
	started := make(chan error, 1)
	go func() { started <- w.start(t.Context(), try) }()
	c.awaitReport(try)
	if err := c.node.Kill9(); err != nil {
		t.Fatal(err)
	}
	if err := c.node.Relaunch(); err != nil {
		t.Fatal(err)
	}
	c.say("containerd killed when the container's own code ran: %v", <-started)
	if err := c.node.WaitReady(); err != nil {
		t.Fatal(err)
	}
	c.back(t, s, try, mark)
	return try
}

// back waits for mountward and removes the pod.
func (c *chaos) back(t *testing.T, s *harness.Sandbox, try *try, mark int64) {
	t.Helper()
	defer c.history.add(try)
	if err := c.awaitSynchronized(mark); err != nil {
		t.Fatal(err)
	}
	if err := c.awaitConnected(); err != nil {
		t.Fatal(err)
	}
	if err := c.node.RemoveSandbox(t.Context(), s.ID); err != nil {
		t.Fatal(err)
	}
}

// awaitReport waits for the report of a container.
func (c *chaos) awaitReport(try *try) {
	for end := time.Now().Add(settleTime); time.Now().Before(end); time.Sleep(100 * time.Microsecond) {
		if table, err := c.ran(try.key); err != nil || len(table) > 0 {
			return
		}
	}
}

// awaitUntold waits for the record that nobody can tell whether a container ran.
func (c *chaos) awaitUntold(t *testing.T, try *try) {
	t.Helper()
	for end := time.Now().Add(settleTime); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		text, err := os.ReadFile(c.ward.Audit)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			if bytes.Contains(line, []byte(try.uid)) && bytes.Contains(line, []byte("cannot be told")) {
				return
			}
		}
	}
	t.Errorf("%s: no record that nobody can tell whether it ran", try.key)
}
