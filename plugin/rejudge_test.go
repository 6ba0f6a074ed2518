package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/ledger"
)

const refusing = auditing + `
[[rule]]
name = "team"
match.pod_annotations = { team = "a" }
action = "deny"
reason = "x"

[[rule]]
name = "shared"
match.propagation = ["shared"]
action = "deny"
reason = "x"
`

// connectedPlugin is one that was synchronized, of a daemon under a policy.
func connectedPlugin(t *testing.T, n *node) *plugin {
	t.Helper()
	d := n.daemon()
	d.start("")
	view, err := hostview.Open(hostview.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = view.Close() })
	p := &plugin{daemon: d, ctx: t.Context(), host: newHost(view, d), life: newConnectionLife(), chores: newChores(view), reloaded: make(chan struct{}, 1)}
	p.life.synchronize(d.now())
	d.connection.Store(p)
	return p
}

// kept puts an entry as of a container that asked for one mount.
func (p *plugin) kept(t *testing.T, name string, m facts.Mount, annotations map[string]string) facts.Container {
	t.Helper()
	c := facts.Container{ID: name, Name: name, Pod: facts.Pod{UID: name, Annotations: annotations}}
	// Enforced before, it was lowered: what it asked for counts.
	o := facts.Outcome{Mount: m, Decided: facts.Slave, Result: facts.Applied}
	if err := p.daemon.ledger().Put(ledger.Entry{Container: c, Outcomes: []facts.Outcome{o}, Created: p.daemon.now(), PolicySHA256: "another"}); err != nil {
		t.Fatal(err)
	}
	return c
}

func running(l *life) { l.rootfs = "/r" }

// refusals are how many containers each rule would refuse, by the last of them.
func (p *plugin) refusals() map[string]uint64 {
	got := map[string]uint64{}
	for _, r := range p.daemon.rollout.Tally().Refusals {
		got[r.Rule+" "+r.Example.Container] = r.Containers
	}
	return got
}

func (p *plugin) load(n *node, text string) {
	n.write(n.policy, text)
	p.daemon.loadPolicy()
}

// watching has the plugin judge by each policy, until end is called.
func (p *plugin) watching(t *testing.T) (end func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.judgeByEach(ctx)
	}()
	return func() {
		cancel()
		<-ended
	}
}

// TestWhatRunsIsJudgedByANewPolicy as it was asked for, with what no entry keeps of
// its pod; what has ended, or never ran, is not.
func TestWhatRunsIsJudgedByANewPolicy(t *testing.T) {
	n := newNode(t, auditing, "")
	p := connectedPlugin(t, n)
	for _, c := range []struct {
		name, asked string
		annotations map[string]string
		life        func(*life)
	}{
		{"shared", "rshared", nil, running},
		{"private", "rprivate", nil, running},
		{"of-team", "rprivate", map[string]string{"team": "a"}, running},
		{"static", "rshared", map[string]string{facts.AnnotationConfigSource: "file"}, running},
		{"ended", "rshared", nil, func(l *life) { l.rootfs, l.ended = "/r", true }},
		{"stopped", "rshared", nil, func(l *life) { l.rootfs, l.stopped = "/r", true }},
		{"created", "rshared", nil, func(*life) {}},
		{"not-proved", "rshared", nil, nil},
	} {
		container := p.kept(t, c.name, factsBind("/data", t.TempDir(), c.asked), c.annotations)
		if c.life != nil {
			p.daemon.lives.change(container, c.life)
		}
	}
	p.daemon.loadPolicy()
	if len(p.reloaded) > 0 {
		t.Error("the same policy is taken for another one")
	}
	p.load(n, refusing)
	if len(p.reloaded) != 1 {
		t.Fatal("another policy, and nobody is told")
	}
	force := p.daemon.force.Load()
	for range 2 { // as where the runtime tells of them too
		p.judgeRunning(t.Context(), force)
	}
	want := map[string]uint64{"shared shared": 1, "team of-team": 1}
	if diff := cmp.Diff(want, p.refusals()); diff != "" {
		t.Errorf("what would be refused (-want +got):\n%s", diff)
	}
	if tally := p.daemon.rollout.Tally(); tally.Containers != 0 || tally.Total() != 2 {
		t.Errorf("%d created, %d refusals", tally.Containers, tally.Total())
	}
	// Another one is in force by now: what the old one would do is of no interest.
	p.load(n, refusing+"# another\n")
	p.judgeRunning(t.Context(), force)
	if got := p.refusals(); len(got) != 0 {
		t.Errorf("counted for a policy that is not in force: %v", got)
	}
}

// TestTheSamePolicyLoadedAgainStopsNoJudgement: the watch of the files has loaded it
// when a person asks for a reload.
func TestTheSamePolicyLoadedAgainStopsNoJudgement(t *testing.T) {
	n := newNode(t, auditing, "")
	p := connectedPlugin(t, n)
	for _, name := range []string{"a", "b", "c"} {
		p.daemon.lives.change(p.kept(t, name, factsBind("/data", t.TempDir(), "rshared"), nil), running)
	}
	p.load(n, refusing)
	force := p.daemon.force.Load()
	p.daemon.loadPolicy()
	if p.daemon.force.Load() == force {
		t.Fatal("nothing was loaded")
	}
	p.judgeRunning(t.Context(), force)
	if diff := cmp.Diff(map[string]uint64{"shared c": 3}, p.refusals()); diff != "" {
		t.Errorf("what would be refused (-want +got):\n%s", diff)
	}
}

// TestTheWatchForAnotherPolicy judges by each that is in audit mode, once the
// runtime has told what runs, and ends with the connection.
func TestTheWatchForAnotherPolicy(t *testing.T) {
	n := newNode(t, auditing, "")
	p := connectedPlugin(t, n)
	p.daemon.lives.change(p.kept(t, "a", factsBind("/data", t.TempDir(), "rshared"), nil), running)
	end := p.watching(t)
	await := func(want map[string]uint64) {
		t.Helper()
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
			if cmp.Equal(want, p.refusals()) {
				return
			}
		}
		t.Fatalf("refusals %v, want %v", p.refusals(), want)
	}
	p.load(n, refusing)
	await(map[string]uint64{"shared a": 1})
	p.load(n, enforcing)
	await(map[string]uint64{})
	p.load(n, refusing+"# another\n")
	await(map[string]uint64{"shared a": 1})
	end()
}

// TestWhatRunsIsJudgedByWhereItsSourcesLeadNow: that is where they lead when it is
// made anew.
func TestWhatRunsIsJudgedByWhereItsSourcesLeadNow(t *testing.T) {
	n := newNode(t, auditing, "")
	p := connectedPlugin(t, n)
	dir := t.TempDir()
	for _, name := range []string{"old/x", "new/x"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("new", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	m := factsBind("/data", filepath.Join(dir, "link/x"), "rprivate")
	m.Host = &facts.HostMount{Canonical: filepath.Join(dir, "old/x"), MountPoint: "/", Root: "/"}
	p.daemon.lives.change(p.kept(t, "a", m, nil), running)
	rule := func(name, under string) string {
		return "[[rule]]\nname = \"" + name + "\"\nmatch.source = [\"" + filepath.Join(dir, under) + "/**\"]\naction = \"deny\"\nreason = \"x\"\n"
	}
	p.load(n, auditing+rule("old", "old")+rule("new", "new"))
	p.judgeRunning(t.Context(), p.daemon.force.Load())
	if diff := cmp.Diff(map[string]uint64{"new a": 1}, p.refusals()); diff != "" {
		t.Errorf("what would be refused (-want +got):\n%s", diff)
	}
}

// TestWhatStartsAfterAReloadIsJudged: nobody goes through it any more.
func TestWhatStartsAfterAReloadIsJudged(t *testing.T) {
	n := newNode(t, auditing, "")
	p := connectedPlugin(t, n)
	container := p.kept(t, "a", factsBind("/data", t.TempDir(), "rshared"), nil)
	p.load(n, refusing)
	force := p.daemon.force.Load()
	p.judgeRunning(t.Context(), force)
	p.daemon.lives.change(container, running)
	entry, _, err := p.daemon.ledger().Get("a")
	if err != nil {
		t.Fatal(err)
	}
	p.judgeStarted(entry, force)
	entry.PolicySHA256 = force.policy.SHA256 // judged at its creation
	p.judgeStarted(entry, force)
	if len(p.chores.queue) != 1 {
		t.Fatalf("%d containers to judge, want 1", len(p.chores.queue))
	}
	(<-p.chores.queue)(t.Context())
	if diff := cmp.Diff(map[string]uint64{"shared a": 1}, p.refusals()); diff != "" {
		t.Errorf("what would be refused (-want +got):\n%s", diff)
	}
}

// TestBeforeTheRuntimeHasToldWhatRunsNothingIsJudged: it is gone through then.
func TestBeforeTheRuntimeHasToldWhatRunsNothingIsJudged(t *testing.T) {
	n := newNode(t, auditing, "")
	p := connectedPlugin(t, n)
	p.daemon.lives.change(p.kept(t, "a", factsBind("/data", t.TempDir(), "rshared"), nil), running)
	synced := p.life.synced.Swap(nil)
	end := p.watching(t)
	p.load(n, refusing)
	for len(p.reloaded) > 0 {
		time.Sleep(time.Millisecond)
	}
	p.anotherPolicy() // taken when the first has been judged, or passed by
	for len(p.reloaded) > 0 {
		time.Sleep(time.Millisecond)
	}
	if got := p.refusals(); len(got) != 0 {
		t.Errorf("judged: %v", got)
	}
	end()
	p.life.synced.Store(synced)
	p.judgeRunning(t.Context(), p.daemon.force.Load())
	if got := p.refusals(); len(got) != 1 {
		t.Errorf("not judged: %v", got)
	}
}

// TestWhatTheRuntimeDoesNotListAsRunningIsNotJudged: it ended while nobody told us.
func TestWhatTheRuntimeDoesNotListAsRunningIsNotJudged(t *testing.T) {
	for name, state := range map[string]api.ContainerState{"stopped": api.ContainerState_CONTAINER_STOPPED, "not listed": -1} {
		n := newNode(t, auditing, "")
		p := connectedPlugin(t, n)
		p.daemon.lives.change(p.kept(t, "a", factsBind("/data", t.TempDir(), "rshared"), nil), running)
		var listed []*api.Container
		if state >= 0 {
			listed = append(listed, &api.Container{Id: "a", Pid: 1, State: state})
		}
		if _, err := p.Synchronize(t.Context(), nil, listed); err != nil {
			t.Fatal(err)
		}
		p.work.Wait()
		p.load(n, refusing)
		p.judgeRunning(t.Context(), p.daemon.force.Load())
		if got := p.refusals(); len(got) != 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestWhatCannotBeJudgedIsSaid: that nothing would be refused is not known of it.
func TestWhatCannotBeJudgedIsSaid(t *testing.T) {
	n := newNode(t, auditing, "")
	p := connectedPlugin(t, n)
	for _, name := range []string{"late", "damaged"} {
		p.daemon.lives.change(p.kept(t, name, factsBind("/data", t.TempDir(), "rshared"), nil), running)
	}
	p.load(n, refusing)
	force := p.daemon.force.Load()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	p.judgeAsAsked(over, "late", force)
	// Another process finds what is on the disk.
	n.write(filepath.Join(p.daemon.settings.RuntimeDir, "containers", "damaged.json"), "{")
	var err error
	if p.daemon.entries, err = ledger.Open(filepath.Join(p.daemon.settings.RuntimeDir, "containers")); err != nil {
		t.Fatal(err)
	}
	p.judgeAsAsked(t.Context(), "damaged", force)
	if got := p.refusals(); len(got) != 0 {
		t.Errorf("counted: %v", got)
	}
	text := n.trail(p.daemon)
	for _, name := range []string{"late", "damaged"} {
		if !strings.Contains(text, "cannot tell what the policy would do to container "+name) {
			t.Errorf("nothing is said of %s in\n%s", name, text)
		}
	}
}
