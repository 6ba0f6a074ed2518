//go:build linux

package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mountward/mountward/test/runtime/harness"
)

// TestStartsThatNobodySaw: a container that was decided about, and started while
// mountward was away, is in the trail once mountward is back: with its map where
// it still runs, else with what was decided. One that never started is not, as
// long as the runtime can tell that: one that was killed meanwhile cannot.
func TestStartsThatNobodySaw(t *testing.T) {
	c, _, must := begin(t, options{open: true, mode: "enforce", workers: 1, seed: 1})
	must(c.beService())
	ctx := t.Context()
	s, err := c.node.RunSandbox(ctx, harness.Pod{})
	must(err)
	ids := map[string]string{}
	for _, name := range []string{"runs", "ended", "never", "seen", "lost"} {
		of := shape{volumes: []volume{{at: "/plain"}}}
		ids[name], err = c.node.CreateContainer(ctx, s, c.container(of, name, name, nil))
		must(err)
	}
	must(c.node.StartContainer(ctx, ids["seen"]))
	c.await(t, "seen", "task", "")
	c.endService()
	must(c.node.StartContainer(ctx, ids["runs"]))
	must(c.node.StartContainer(ctx, ids["ended"]))
	must(c.node.StopContainer(ctx, ids["ended"]))
	must(c.beService())
	c.await(t, "runs", "task", "")
	c.await(t, "runs", "drift", "start-unseen")
	for _, name := range []string{"ended", "never", "seen"} {
		must(c.node.RemoveContainer(ctx, ids[name]))
	}
	c.await(t, "ended", "decision", "start-unseen")
	c.endService()
	must(c.node.Kill9())
	must(c.node.Restart())
	must(c.beService())
	must(c.node.RemoveContainer(ctx, ids["lost"]))
	c.await(t, "lost", "decision", "start-unseen")
	must(c.node.RemoveSandbox(ctx, s.ID))

	records, _, err := c.records()
	must(err)
	tasks := map[string]int{}
	for _, r := range records {
		name := r.Container.Name
		if r.event() == "task" {
			tasks[name]++
		}
		if slices.ContainsFunc(r.Findings, unseen) && (name == "never" || name == "seen") {
			t.Errorf("container %s: %s: %+v", name, r.Message, r.Findings)
		}
	}
	if tasks["runs"] != 1 || tasks["seen"] != 1 || len(tasks) != 2 {
		t.Errorf("task records %v, want one of each container that mountward saw running", tasks)
	}
}

func unseen(f finding) bool { return f.Code == "start-unseen" }

// await waits for a record about a container, with a finding where one is given.
func (c *chaos) await(t *testing.T, name, event, code string) {
	t.Helper()
	for end := time.Now().Add(settleTime); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		records, _, err := c.records()
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			if r.Container.Name == name && r.event() == event && (code == "" || slices.ContainsFunc(r.Findings, unseen)) {
				return
			}
		}
	}
	text := strings.Builder{}
	records, _, _ := c.records()
	for _, r := range records {
		text.WriteString(r.Message + "\n")
	}
	t.Fatalf("container %s: no record %s %s in\n%s", name, event, code, &text)
}
