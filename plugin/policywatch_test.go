package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mountward/mountward/pkg/policy"
)

// patience bounds what should take a second.
const patience = 30 * time.Second

// watching is a daemon whose policy files are watched until the test ends. Where
// slow is set there are no looks but those that events cause.
func watching(t *testing.T, n *node, slow bool) *daemon {
	t.Helper()
	d, _ := lookedAt(t, n, slow)
	return d
}

// lookedAt is watching, and counts the looks.
func lookedAt(t *testing.T, n *node, slow bool) (*daemon, *atomic.Int32) {
	t.Helper()
	d := n.daemon()
	d.start("")
	every := 50 * time.Millisecond
	if slow {
		every = time.Hour
	}
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() { d.reloadWhenAsked(ctx, nil, d.loadPolicy) })
	w := d.policyWatch()
	w.settle, w.every = 20*time.Millisecond, every
	look, looks := w.look, new(atomic.Int32)
	w.look = func() (string, bool) {
		defer looks.Add(1)
		return look()
	}
	work.Go(func() { w.run(ctx) })
	t.Cleanup(func() { cancel(); work.Wait() })
	return d, looks
}

// until waits for something to be true of the daemon.
func (d *daemon) until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not %s: policy %+v, mistakes %v", what, d.force.Load().policy, d.state.mistakes())
		}
	}
}

// decides waits until the rules in force are these.
func (d *daemon) decides(t *testing.T, names ...string) {
	t.Helper()
	d.until(t, "in force: "+strings.Join(names, " "), func() bool {
		var got []string
		for _, r := range d.force.Load().policy.Rules {
			got = append(got, r.Name)
		}
		return strings.Join(got, " ") == strings.Join(names, " ") && d.state.mistakes() == nil
	})
}

func (n *node) drop(name, text string) {
	n.tb.Helper()
	if err := os.MkdirAll(filepath.Join(n.dir, policy.DropInDir), 0o755); err != nil {
		n.tb.Fatal(err)
	}
	n.write(filepath.Join(n.dir, policy.DropInDir, name), text)
}

func aRule(name string) string {
	return "[[rule]]\nname = \"" + name + "\"\nmatch = {}\naction = \"audit\"\n"
}

// apart puts what a daemon writes elsewhere, so that a change of the policy's
// directory is one of the policy.
func apart(t *testing.T) *node {
	t.Helper()
	n := newNode(t, enforcing, "")
	dir := filepath.Join(n.dir, "etc")
	n.policy = filepath.Join(dir, "policy.toml")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(n.settings)
	if err != nil {
		t.Fatal(err)
	}
	n.write(n.settings, strings.Replace(string(text), n.dir+"/policy.toml", n.policy, 1))
	n.write(n.policy, enforcing)
	return &node{tb: t, dir: dir, policy: n.policy, settings: n.settings}
}

func (n *node) text(d *daemon) string {
	d.reload.Lock() // who loads a policy holds it until that is recorded
	defer d.reload.Unlock()
	return (&node{tb: n.tb, dir: filepath.Dir(n.dir)}).trail(d)
}

// TestFilesThatChangeAreLoaded without a signal: by events alone, where no look
// at regular times would find them.
func TestFilesThatChangeAreLoaded(t *testing.T) {
	n := apart(t)
	d := watching(t, n, true)
	first := d.force.Load()
	n.drop("10-a.toml", aRule("a")) // the directory is new as well
	d.decides(t, "a")
	n.drop("20-b.toml", aRule("b"))
	d.decides(t, "a", "b")
	n.drop("10-a.toml", aRule("c"))
	d.decides(t, "c", "b")
	if err := os.Rename(filepath.Join(n.dir, "policy.d", "20-b.toml"), filepath.Join(n.dir, "policy.d", "20-b.toml~")); err != nil {
		t.Fatal(err)
	}
	d.decides(t, "c")
	if err := os.RemoveAll(filepath.Join(n.dir, "policy.d")); err != nil {
		t.Fatal(err)
	}
	d.decides(t)
	n.drop("10-a.toml", aRule("again"))
	d.decides(t, "again")
	n.write(n.policy+".new", auditing)
	if err := os.Rename(n.policy+".new", n.policy); err != nil {
		t.Fatal(err)
	}
	d.until(t, "in audit mode", func() bool { return d.force.Load().policy.Mode == policy.ModeAudit })
	if first.policy.Mode != policy.ModeEnforce {
		t.Error("a policy that was in force was changed in place")
	}
}

// TestABadDropInIsRecordedOnce and does not replace what is in force, nor does
// one that cannot be read; the mended one does.
func TestABadDropInIsRecordedOnce(t *testing.T) {
	n := apart(t)
	n.drop("10-a.toml", aRule("a"))
	d, looks := lookedAt(t, n, false)
	more := func(n int32) {
		t.Helper()
		enough := looks.Load() + n
		d.until(t, "looked at", func() bool { return looks.Load() >= enough })
	}
	d.decides(t, "a")
	bad := filepath.Join(n.dir, "policy.d", "20-b.toml")
	n.write(bad, "mode = \"audit\"\n")
	// On a busy machine the file may have been loaded while it was empty.
	d.until(t, "rejected", func() bool {
		err := d.state.mistakes()
		return err != nil && strings.Contains(err.Error(), `"mode" belongs to the whole policy`)
	})
	more(10)
	now := time.Now()
	if err := os.Chtimes(bad, now, now); err != nil {
		t.Fatal(err)
	}
	more(4)
	if f := d.force.Load(); f.policy.Mode != policy.ModeEnforce || len(f.policy.Rules) != 1 {
		t.Errorf("in force: %+v", f.policy)
	}
	if wrong := d.Status().Policy.Wrong; len(wrong) != 1 || !strings.HasPrefix(wrong[0], bad+":1:1: ") {
		t.Errorf("status: %q", wrong)
	}
	if err := os.Remove(bad); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", bad); err != nil {
		t.Fatal(err)
	}
	d.until(t, "unreadable", func() bool {
		err := d.state.mistakes()
		return err != nil && strings.Contains(err.Error(), bad+": no such file")
	})
	if err := os.Remove(bad); err != nil {
		t.Fatal(err)
	}
	n.write(bad, aRule("b"))
	d.decides(t, "a", "b")
	records := 0
	for line := range strings.SplitSeq(n.text(d), "\n") {
		if strings.Contains(line, bad+`:1:1: \"mode\" belongs to the whole policy`) {
			records++
		}
	}
	if records != 1 {
		t.Errorf("%d records name the mistake and its place, want 1", records)
	}
}

// TestAConfigMapIsFollowed: what the kubelet exchanges is one link.
func TestAConfigMapIsFollowed(t *testing.T) {
	n := apart(t)
	if err := os.Remove(n.policy); err != nil {
		t.Fatal(err)
	}
	version := func(name, mode string, rules ...string) {
		t.Helper()
		dir := filepath.Join(n.dir, ".."+name)
		if err := os.MkdirAll(filepath.Join(dir, "policy.d"), 0o755); err != nil {
			t.Fatal(err)
		}
		n.write(filepath.Join(dir, "policy.toml"), mode)
		for _, r := range rules {
			n.write(filepath.Join(dir, "policy.d", r+".toml"), aRule(r))
		}
		before, _ := os.Readlink(filepath.Join(n.dir, "..data"))
		for link, to := range map[string]string{"policy.toml": "..data/policy.toml", "policy.d": "..data/policy.d"} {
			if err := os.Symlink(to, filepath.Join(n.dir, link)); err != nil && !os.IsExist(err) {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(".."+name, filepath.Join(n.dir, "..tmp")); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(n.dir, "..tmp"), filepath.Join(n.dir, "..data")); err != nil {
			t.Fatal(err)
		}
		if before != "" {
			if err := os.RemoveAll(filepath.Join(n.dir, before)); err != nil {
				t.Fatal(err)
			}
		}
	}
	version("1", enforcing, "a", "b")
	d := watching(t, n, true)
	d.decides(t, "a", "b")
	version("2", enforcing, "a", "c")
	d.decides(t, "a", "c")
	version("3", auditing, "d")
	d.decides(t, "d")
	if got := strings.Count(n.text(d), `"mountward.policy-loaded`); got != 3 {
		t.Errorf("%d records of a loaded policy, want 3", got)
	}
}

// TestTheDirectoryMayGoAndComeBack: the policy in force stays meanwhile.
func TestTheDirectoryMayGoAndComeBack(t *testing.T) {
	n := apart(t)
	n.drop("10-a.toml", aRule("a"))
	d := watching(t, n, false)
	d.decides(t, "a")
	for _, name := range []string{"b", "c"} {
		if err := os.Rename(n.dir, n.dir+"-"+name); err != nil {
			t.Fatal(err)
		}
		d.until(t, "missed", func() bool { return d.state.mistakes() != nil })
		if f := d.force.Load(); len(f.policy.Rules) != 1 || f.policy.Mode != policy.ModeEnforce {
			t.Errorf("in force: %+v", f.policy)
		}
		if err := os.Mkdir(n.dir, 0o755); err != nil {
			t.Fatal(err)
		}
		n.write(n.policy, enforcing)
		n.drop("10-"+name+".toml", aRule(name))
		d.decides(t, name)
	}
	n.drop("20-x.toml", aRule("x"))
	d.decides(t, "c", "x")
}

// TestAnEditorIsWaitedFor: what is there only between two writes is not loaded. On
// a machine so busy that it was there for as long as the files must be the same,
// that is tried again.
func TestAnEditorIsWaitedFor(t *testing.T) {
	for range 20 {
		rejected, took := edited(t)
		if took >= policySettle {
			t.Logf("the editor took %s", took)
			continue
		}
		if rejected != 0 {
			t.Errorf("%d records of a rejected policy", rejected)
		}
		return
	}
	t.Fatal("this machine is too busy for an editor")
}

// edited has an editor change the policy of a daemon that has its own times. It
// returns how many policies were rejected for that, and how long the editor took.
func edited(t *testing.T) (rejected int, took time.Duration) {
	t.Helper()
	n := apart(t)
	d := n.daemon()
	d.start("")
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() { d.reloadWhenAsked(ctx, nil, d.loadPolicy) })
	work.Go(func() { d.watchPolicy(ctx) })
	t.Cleanup(func() { cancel(); work.Wait() })
	d.decides(t)
	began := time.Now()
	if err := os.Rename(n.policy, n.policy+"~"); err != nil {
		t.Fatal(err)
	}
	n.write(n.policy, "")
	n.write(n.policy, enforcing+aRule("a"))
	took = time.Since(began)
	d.decides(t, "a")
	return strings.Count(n.text(d), `"mountward.policy-rejected`), took
}
