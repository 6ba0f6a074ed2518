package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/mountward/mountward/pkg/cli"
	"github.com/mountward/mountward/pkg/policyfile"
)

// reloading is a daemon that loads its policy when it is asked to.
func reloading(t *testing.T, d *daemon, load func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { d.reloadWhenAsked(ctx, nil, load); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
}

// TestReloadAnswersWithWhatCameOfIt: a policy that changed is in force when the
// answer comes, a bad one is told with its places and is not.
func TestReloadAnswersWithWhatCameOfIt(t *testing.T) {
	n := newNode(t, enforcing, "")
	d := n.daemon()
	d.start("")
	reloading(t, d, d.loadPolicy)
	ctx := t.Context()
	n.drop("10-a.toml", aRule("a"))
	p, err := d.Reload(ctx)
	if err != nil || p.Rules != 1 || p.Files != 2 || len(p.Wrong) != 0 || p.SHA256 != d.force.Load().policy.SHA256 {
		t.Errorf("%+v, %v", p, err)
	}
	n.drop("20-b.toml", aRule("a"))
	p, err = d.Reload(ctx)
	if err != nil || p.Rules != 1 || len(p.Wrong) != 1 || !strings.Contains(p.Wrong[0], `policy.d/20-b.toml:2:1: two rules have the name "a", the first is at `+n.dir+"/policy.d/10-a.toml:2") {
		t.Errorf("%+v, %v", p, err)
	}
	n.drop("20-b.toml", aRule("b"))
	if p, err = d.Reload(ctx); err != nil || p.Rules != 2 || len(p.Wrong) != 0 {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestAReloadThatHangsCostsOneGoroutine: who asks is told that it takes too
// long, decisions go on, and when it goes on everybody gets one that began after
// they asked.
func TestAReloadThatHangsCostsOneGoroutine(t *testing.T) {
	n := newNode(t, enforcing, "")
	d := n.daemon()
	d.start("")
	loads := 0
	began, hang := make(chan struct{}, 8), make(chan struct{})
	reloading(t, d, func() {
		loads++
		began <- struct{}{}
		<-hang
		d.loadPolicy()
	})
	short, cancel := context.WithCancel(t.Context())
	first := d.wishes.want()
	<-began
	cancel()
	if _, err := d.Reload(short); err == nil || !strings.Contains(err.Error(), "not read in time") {
		t.Errorf("%v", err)
	}
	n.write(n.policy, auditing)
	var waiting []<-chan struct{}
	for range 5 {
		waiting = append(waiting, d.wishes.want())
	}
	if mode := d.policyStatus().Mode; mode != "enforce" {
		t.Errorf("mode %s", mode)
	}
	close(hang)
	<-first
	for _, done := range waiting {
		<-done
	}
	if mode := d.policyStatus().Mode; mode != "audit" || loads != 2 {
		t.Errorf("mode %s after %d loads, want audit after 2", mode, loads)
	}
}

// TestASignalDuringTheStartIsKeptUntilItIsOver: a load before that would find half
// of the daemon.
func TestASignalDuringTheStartIsKeptUntilItIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &daemon{started: make(chan struct{}), wishes: newReloads()}
		ctx, cancel := context.WithCancel(t.Context())
		hangup, over, loads := make(chan os.Signal, 1), make(chan struct{}), 0
		go func() { d.reloadWhenAsked(ctx, hangup, func() { loads++ }); close(over) }()
		for want, step := range []struct {
			name string
			do   func()
		}{
			{"a signal during the start", func() { hangup <- syscall.SIGHUP }},
			{"the end of the start", func() { close(d.started) }},
			{"a signal", func() { hangup <- syscall.SIGHUP }},
			{"a wish of three", func() { d.wishes.want(); d.wishes.want(); d.wishes.want() }},
		} {
			step.do()
			if synctest.Wait(); loads != want {
				t.Errorf("%s: %d loads by now, want %d", step.name, loads, want)
			}
		}
		cancel()
		<-over
	})
}

// TestAStartThatNeverEndsIsNotWaitedFor at the end of the daemon.
func TestAStartThatNeverEndsIsNotWaitedFor(t *testing.T) {
	d := &daemon{started: make(chan struct{}), wishes: newReloads()}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d.reloadWhenAsked(ctx, nil, func() { t.Error("loaded") })
	d.watchPolicy(ctx)
}

// checkAgrees runs check on the files of a node, and a daemon, and wants one
// answer.
func checkAgrees(t *testing.T, n *node) (accepted bool) {
	t.Helper()
	var out, errs bytes.Buffer
	code := cli.Execute(t.Context(), cli.Program{Args: []string{"check", "--config", n.settings}, Stdout: &out, Stderr: &errs})
	d := n.daemon()
	d.start("")
	defer d.close()
	force, why := d.force.Load(), d.state.mistakes()
	if accepted = why == nil; accepted != (code == cli.ExitYes) || accepted != (force.origin == policyfile.OriginFile) {
		t.Fatalf("check says %d:\n%s%s\nthe daemon: %v, in force from %s", code, &out, &errs, why, force.origin)
	}
	if accepted {
		sum := regexp.MustCompile(`sha256 ([0-9a-f]{12})\n$`).FindStringSubmatch(out.String())
		if len(sum) != 2 || !strings.HasPrefix(force.policy.SHA256, sum[1]) {
			t.Fatalf("check says %q, the daemon has %s", &out, force.policy.SHA256)
		}
		return accepted
	}
	for line := range strings.SplitSeq(why.Error(), "\n") {
		if !strings.Contains(errs.String(), line) {
			t.Fatalf("the daemon says %q, check does not:\n%s", line, &errs)
		}
	}
	return accepted
}

// TestCheckAcceptsWhatTheDaemonLoads, and nothing else; for the same reasons.
func TestCheckAcceptsWhatTheDaemonLoads(t *testing.T) {
	for name, test := range map[string]struct {
		prepare func(n *node)
		want    bool
	}{
		"one file":      {func(*node) {}, true},
		"drop-ins":      {func(n *node) { n.drop("a.toml", aRule("a")); n.drop("b.toml", aRule("b")) }, true},
		"a hidden file": {func(n *node) { n.drop(".a.toml", "x") }, true},
		"a bad drop-in": {func(n *node) { n.drop("a.toml", aRule("a")); n.drop("b.toml", "version = 1\n"+aRule("a")) }, false},
		"an empty one":  {func(n *node) { n.drop("a.toml", "") }, false},
		"a bad file":    {func(n *node) { n.write(n.policy, "x") }, false},
		"no file":       {func(n *node) { n.must(os.Remove(n.policy)) }, false},
		"no file, drop-ins": {func(n *node) {
			n.must(os.Remove(n.policy))
			n.drop("a.toml", enforcing)
		}, false},
		"a link that leads nowhere": {func(n *node) {
			n.drop("a.toml", aRule("a"))
			n.must(os.Symlink("x", filepath.Join(n.dir, "policy.d", "b.toml")))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t, enforcing, "")
			test.prepare(n)
			if got := checkAgrees(t, n); got != test.want {
				t.Errorf("accepted: %v", got)
			}
		})
	}
}

func (n *node) must(err error) {
	n.tb.Helper()
	if err != nil {
		n.tb.Fatal(err)
	}
}

// FuzzCheckAgreesWithTheDaemon: whatever the files are.
func FuzzCheckAgreesWithTheDaemon(f *testing.F) {
	f.Add([]byte(enforcing), []byte(aRule("a")))
	f.Add([]byte(enforcing+aRule("a")), []byte(aRule("a")))
	f.Add([]byte(auditing+"[hazards]\nMW101 = \"deny\"\n"), []byte("[hazards]\nMW101 = \"warn\"\n"))
	f.Add([]byte(auditing), []byte("mode = \"enforce\"\n"))
	f.Add([]byte{}, []byte{})
	f.Fuzz(func(t *testing.T, main, drop []byte) {
		n := newNode(t, string(main), "")
		n.drop("10-a.toml", string(drop))
		checkAgrees(t, n)
	})
}

// TestTheLastGoodPolicyHoldsAllFiles: after a restart with a bad drop-in, and
// with none, what was in force is, whole.
func TestTheLastGoodPolicyHoldsAllFiles(t *testing.T) {
	n := newNode(t, enforcing+aRule("main"), "")
	n.drop("10-a.toml", aRule("a"))
	n.drop("20-b.toml", aRule("b"))
	d := n.daemon()
	d.start("")
	good := d.force.Load().policy.SHA256
	d.close()
	for _, test := range []struct { // each on top of the one before
		name  string
		spoil func()
	}{
		{"a bad drop-in", func() { n.drop("20-b.toml", "x") }},
		{"no main file", func() { n.must(os.Remove(n.policy)) }},
		{"not even the directory", func() { n.must(os.RemoveAll(filepath.Join(n.dir, "policy.d"))) }},
	} {
		test.spoil()
		d := n.daemon()
		d.start("")
		f := d.force.Load()
		if f.origin != policyfile.OriginLastGood || f.policy.SHA256 != good || len(f.policy.Rules) != 3 || d.state.mistakes() == nil {
			t.Errorf("%s: %+v from %s, mistakes %v", test.name, f.policy, f.origin, d.state.mistakes())
		}
		if got, want := f.policy.Rules[2].Position, filepath.Join(n.dir, "policy.d", "20-b.toml")+":1"; got != want {
			t.Errorf("%s: the last rule stands at %s, want %s", test.name, got, want)
		}
		d.close()
	}
}
