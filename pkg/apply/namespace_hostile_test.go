package apply

import (
	"context"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/internal/linux/linuxtest"
	"github.com/mountward/mountward/pkg/policy"
	"github.com/mountward/mountward/pkg/verify"
)

// TestIDMappedMounts of a container with a user namespace keep their mapping,
// both ways; what the host mounts later is not mapped, and that is said.
func TestIDMappedMounts(t *testing.T) {
	for _, decided := range []facts.Propagation{facts.Slave, facts.Private} {
		t.Run(decided.Option(), func(t *testing.T) {
			n := newNode(t)
			must(t, os.Chown(n.rootfs, 100000, 100000))
			c := n.run(t, users, "rslave", n.shared+":/other:rslave")
			linuxtest.MountIDMapped(t, n.shared, c.pid(), "/data")
			asked := facts.Private
			if decided == facts.Private { // lowered from what the kernel gave it
				asked = facts.Slave
			} else {
				must(t, linuxtest.In(c.pid(), func() error { return syscall.Mount("", "/data", "", syscall.MS_PRIVATE, "") }))
			}
			if before := c.at(t, "/data"); !idMapped(before) || before.State.Receives() != (asked == facts.Slave) {
				t.Fatalf("before it is %s %s", before.Options, before.State)
			}
			o := n.deferred(t, n.shared, "/data", asked, decided)
			other := n.other(t, n.shared, "/other", facts.Slave)
			other.Mount.Host = nil // the table alone does not tell the two apart
			r := c.request(t, o)
			r.Outcomes = append(r.Outcomes, other)
			r.Located = place(r, "/data", "/other")
			result := apply(t, r)
			if got := result.Outcomes[0]; got.Result != facts.Applied {
				t.Errorf("outcome %+v", got)
			}
			after := c.at(t, "/data")
			if !idMapped(after) || after.State.Receives() != (decided == facts.Slave) || after.State.Shared() {
				t.Errorf("after it is %s %s", after.Options, after.State)
			}
			if said := result.found("later-mounts-not-idmapped"); said != (decided == facts.Slave) {
				t.Errorf("said that later mounts are not id-mapped: %t", said)
			}
			if decided == facts.Slave {
				n.mount(t, n.shared+"/later")
				if later := c.at(t, "/data/later"); idMapped(later) {
					t.Error("a later mount is id-mapped: say so no more")
				}
				if n.mountIn(c, "/data/inside"); n.mounted(t, n.shared+"/inside") {
					t.Error("a mount of the container reaches the host")
				}
			}
		})
	}
}

// mountIn mounts in the container with the host's rights.
func (n *node) mountIn(c *container, path string) {
	_ = linuxtest.In(c.pid(), func() error {
		_ = os.Mkdir(path, 0o755)
		return syscall.Mount("inside", path, "tmpfs", 0, "")
	})
}

// place says that the outcomes are at these mount points, whatever they show.
func place(r NamespaceRequest, points ...string) verify.Located {
	located := verify.Located{}
	for _, point := range points {
		e, ok := r.Table.At(point)
		located.Places = append(located.Places, verify.Place{Entry: e, Found: ok, Sure: ok})
	}
	return located
}

// TestStackedDestinations: of two mounts at one place the upper is changed, and
// the hidden one, which no path leads to, is said to be left.
func TestStackedDestinations(t *testing.T) {
	n := newNode(t)
	n.mkfile(t, n.shared+"/a/x")
	n.mkfile(t, n.shared+"/b/x")
	mounts := []string{n.shared + "/a:/data:rprivate", n.shared + "/b:/data:rprivate"}
	c := n.run(t, nil, "rslave", mounts...)
	raise := func(onUnmet bool) []facts.Outcome {
		lower, upper := n.deferred(t, n.shared+"/a", "/data", facts.Private, facts.Slave), n.deferred(t, n.shared+"/b", "/data/", facts.Private, facts.Slave)
		lower.Required, upper.Required = onUnmet, onUnmet
		return []facts.Outcome{lower, upper}
	}
	r := apply(t, c.request(t, raise(false)...))
	lower, upper := r.Outcomes[0], r.Outcomes[1]
	if lower.Result != facts.Left || !strings.Contains(lower.Reason, "another mount lies over it") || upper.Result != facts.Applied || r.Refusal != nil {
		t.Errorf("lower %+v\nupper %+v\nrefusal %v", lower, upper, r.Refusal)
	}
	n.mount(t, n.shared+"/b/later")
	if e := c.at(t, "/data"); !strings.HasSuffix(e.Root, "/b") || e.State.Master == 0 || !c.has(t, "/data/later") {
		t.Errorf("/data is %s %s", e.Root, e.State)
	}
	for e := range c.request(t).Table.All() {
		if strings.HasSuffix(e.Root, "/a") && e.State.Receives() {
			t.Errorf("the hidden mount is %s", e.State)
		}
	}
	if r := apply(t, c.request(t, raise(true)...)); r.Refusal == nil || r.Outcomes[0].Result != facts.Refused {
		t.Errorf("on_unmet deny: %+v, %v", r.Outcomes[0], r.Refusal)
	}
}

// TestTwoMountsOfOneThing cannot be told apart: they are changed if both are to
// be, and not if one is.
func TestTwoMountsOfOneThing(t *testing.T) {
	n := newNode(t)
	c := n.run(t, nil, "rslave", n.shared+":/data:rslave", n.shared+":/other:rslave")
	must(t, linuxtest.In(c.pid(), func() error { return syscall.Mount("/other", "/plain", "", syscall.MS_MOVE, "") }))
	one := n.deferred(t, n.shared, "/x", facts.Slave, facts.Private)
	before := c.text(t)
	r := apply(t, c.request(t, one, n.other(t, n.shared, "/y", facts.Slave)))
	if r.Outcomes[0].Result != facts.Left || r.Refusal != nil || c.text(t) != before {
		t.Errorf("%+v, %v", r.Outcomes[0], r.Refusal)
	}
	r = apply(t, c.request(t, one, n.deferred(t, n.shared, "/y", facts.Slave, facts.Private)))
	if r.Outcomes[0].Result != facts.Applied || r.Outcomes[1].Result != facts.Applied || c.at(t, "/data").State.Receives() || c.at(t, "/plain").State.Receives() {
		t.Errorf("%+v\n%+v\n%s", r.Outcomes[0], r.Outcomes[1], c.text(t))
	}
}

// TestTheTargetIsAnotherByNow: between the proof and the act the target is
// replaced. Nothing is touched and nothing refused.
func TestTheTargetIsAnotherByNow(t *testing.T) {
	n := newNode(t)
	for _, test := range []struct {
		name    string
		replace func() error
	}{
		{"by another mount over it", func() error { return syscall.Mount("inside", "/data", "tmpfs", 0, "") }},
		{"by another mount in its place", func() error {
			// It is made before the other ends, whose id it could have else.
			return firstError(
				syscall.Mount("inside", "/plain", "tmpfs", 0, ""), syscall.Unmount("/data", 0),
				syscall.Mount("/plain", "/data", "", syscall.MS_MOVE, ""),
			)
		}},
		{"by a symbolic link to another mount", func() error {
			return firstError(syscall.Mount("/data", "/plain", "", syscall.MS_MOVE, ""), os.RemoveAll("/data"), os.Symlink("/other", "/data"))
		}},
		{"by a symbolic link to itself", func() error {
			return firstError(syscall.Mount("/data", "/plain", "", syscall.MS_MOVE, ""), os.RemoveAll("/data"), os.Symlink("/plain", "/data"))
		}},
		{"by nothing", func() error { return firstError(syscall.Unmount("/data", 0), os.RemoveAll("/data")) }},
	} {
		for _, up := range []bool{false, true} {
			name, word, asked, decided := test.name+", lowering", "rslave", facts.Slave, facts.Private
			if up {
				name, word, asked, decided = test.name+", raising", "rprivate", facts.Private, facts.Slave
			}
			t.Run(name, func(t *testing.T) {
				must(t, os.MkdirAll(n.rootfs+"/data", 0o755))
				c := n.run(t, nil, "rslave", n.shared+":/data:"+word, n.private+":/other:rslave")
				r := c.request(t, n.deferred(t, n.shared, "/data", asked, decided), n.other(t, n.private, "/other", facts.Slave))
				must(t, linuxtest.In(c.pid(), test.replace))
				before := c.text(t)
				result := apply(t, r)
				if o := result.Outcomes[0]; o.Result != facts.Left || result.Refusal != nil || !result.found("cannot-tell") {
					t.Errorf("outcome %+v, refusal %v, findings %+v", o, result.Refusal, result.Findings)
				}
				if after := c.text(t); after != before {
					t.Errorf("changed from\n%s\nto\n%s", before, after)
				}
				_ = os.RemoveAll(n.rootfs + "/data")
			})
		}
	}
}

func firstError(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestNotTheContainer: whatever process the request names, nothing is changed
// and nothing refused. The proof that comes before is not asked here.
func TestNotTheContainer(t *testing.T) {
	n := newNode(t)
	c := n.run(t, nil, "rshared", n.shared+":/data:rshared")
	gone := n.run(t, nil, "rshared", n.shared+":/data:rshared")
	other := n.run(t, nil, "rshared", n.shared+":/data:rshared")
	onHost := linuxtest.Start(t, "container", nil, n.rootfs, "wait")
	o := n.deferred(t, n.shared, "/data", facts.Shared, facts.Private)
	r := c.request(t, o)
	leaves := func(t *testing.T, r NamespaceRequest, changed *container) {
		t.Helper()
		before := changed.text(t)
		host, err := os.ReadFile("/proc/self/mountinfo")
		must(t, err)
		result := apply(t, r)
		if o := result.Outcomes[0]; o.Result != facts.Left || o.Decided != facts.Shared || result.Refusal != nil || !result.found("cannot-tell") {
			t.Errorf("outcome %+v, refusal %v, findings %+v", o, result.Refusal, result.Findings)
		}
		now, err := os.ReadFile("/proc/self/mountinfo")
		must(t, err)
		if changed.text(t) != before || string(now) != string(host) {
			t.Error("a mount was changed")
		}
	}
	t.Run("a process in the host's namespace", func(t *testing.T) {
		process, err := n.view.OpenProcess(onHost.Pid)
		must(t, err)
		defer process.Close()
		r := r
		r.Process = process
		leaves(t, r, c)
	})
	t.Run("a process in the host's namespace, with its table", func(t *testing.T) {
		process, err := n.view.OpenProcess(onHost.Pid)
		must(t, err)
		defer process.Close()
		r := r
		r.Process = process
		r.Table, err = process.Table()
		must(t, err)
		o := n.deferred(t, n.shared, n.shared, facts.Shared, facts.Private)
		r.Outcomes = []facts.Outcome{o}
		r.Located = verify.Locate(r.Outcomes, r.Table)
		leaves(t, r, c)
	})
	t.Run("a process of another container", func(t *testing.T) {
		r := r
		r.Process = other.process
		leaves(t, r, other)
	})
	t.Run("a process that ended", func(t *testing.T) {
		r := gone.request(t, o)
		gone.End()
		leaves(t, r, c)
	})
	// The other way: with its own process it is changed.
	if result := apply(t, r); result.Outcomes[0].Result != facts.Applied {
		t.Errorf("outcome %+v", result.Outcomes[0])
	}
}

// TestAFileSystemThatDoesNotAnswer: the answer comes in time, and when the
// thread comes back it changes nothing any more.
func TestAFileSystemThatDoesNotAnswer(t *testing.T) {
	n := newNode(t)
	fuse := n.dir + "/fuse"
	must(t, os.Mkdir(fuse, 0o755))
	sleep := linuxtest.SleepyFUSE(t, fuse, 0)
	n.mkfile(t, n.shared+"/file")
	c := n.run(t, nil, "rslave", fuse+":/data:rprivate", n.shared+"/file:/data/file:rslave", n.shared+":/other:rslave")
	outcomes := []facts.Outcome{
		n.deferred(t, n.shared+"/file", "/data/file", facts.Slave, facts.Private), n.deferred(t, n.shared, "/other", facts.Slave, facts.Private),
	}
	r := c.request(t, outcomes...)
	sleep()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	var stuck Namespace
	result := stuck.Apply(ctx, r)
	for _, o := range result.Outcomes {
		if o.Result != facts.Left || !strings.Contains(o.Reason, "cannot tell") || result.Refusal != nil {
			t.Errorf("outcome %+v, refusal %v", o, result.Refusal)
		}
	}
	must(t, syscall.Unmount(fuse, syscall.MNT_FORCE)) // the walk ends with an error
	for end := time.Now().Add(time.Minute); stuck.busy() && time.Now().Before(end); time.Sleep(time.Millisecond) {
	}
	if stuck.busy() {
		t.Error("the thread is still stuck")
	}
	if e := c.at(t, "/other"); e.State.Master == 0 {
		t.Errorf("the thread that was left behind went on: /other is %s", e.State)
	}
}

func (n *Namespace) busy() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.running > 0
}

// TestTooManyStuckThreads: no other one is begun.
func TestTooManyStuckThreads(t *testing.T) {
	n := newNode(t)
	c := n.run(t, nil, "rslave", n.shared+":/data:rslave")
	full := Namespace{running: maxStuck}
	result := full.Apply(t.Context(), c.request(t, n.deferred(t, n.shared, "/data", facts.Slave, facts.Private)))
	if o := result.Outcomes[0]; o.Result != facts.Left || result.Refusal != nil || !result.found("cannot-tell") || c.at(t, "/data").State.Master == 0 {
		t.Errorf("outcome %+v", o)
	}
}

// decides is a policy by what a mount lets through, as the kernel shows it.
func decides(decide func(facts.Mount) policy.Decision) func([]facts.Mount) []policy.Decision {
	return func(mounts []facts.Mount) (all []policy.Decision) {
		for _, m := range mounts {
			all = append(all, decide(m))
		}
		return all
	}
}

// TestAMountNobodyAskedFor, as CDI and hooks make them without a propagation
// word, is a peer of the host's where rootfsPropagation stays rshared: T18.
func TestAMountNobodyAskedFor(t *testing.T) {
	byDefault := policy.Decision{Judged: true, Action: facts.ActionAllow}
	byRule := policy.Decision{Judged: true, Action: facts.ActionAllow, Rule: "mine"}
	for _, test := range []struct {
		name   string
		stays  bool // a mount that was asked to be rshared stays so
		decide policy.Decision
		want   string
	}{
		{"the last rshared was lowered", false, byDefault, "slave"},
		{"another rshared stays", true, byDefault, "shared"},
		{"a rule allows it", false, byRule, "shared"},
		{"a rule lowers it", true, policy.Decision{Judged: true, Action: facts.ActionSet, Propagation: facts.Private, Rule: "low"}, "private"},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := newNode(t)
			n.mkfile(t, n.shared+"/cdi/x")
			c := n.run(t, nil, "rshared", n.shared+":/data:rslave", n.shared+"/cdi:/plain")
			asked := n.other(t, n.shared, "/data", facts.Shared)
			if !test.stays { // Spec carried it
				asked.Decided, asked.Result = facts.Slave, facts.Applied
			}
			c.mountInside(t, "/plain/before")
			if !n.mounted(t, n.shared+"/cdi/before") {
				t.Fatal("the mount is no peer of the host's: there is nothing to lower")
			}
			r := c.request(t, asked)
			r.Decide = decides(func(m facts.Mount) policy.Decision {
				if m.Destination == "/plain" {
					return test.decide
				}
				return byDefault
			})
			apply(t, r)
			host, err := n.view.Lookup(t.Context(), n.shared)
			must(t, err)
			got := map[facts.Propagation]string{facts.Private: "private", facts.Slave: "slave", facts.Shared: "shared"}[verify.Actual(c.at(t, "/plain").State, host.State)]
			if got != test.want {
				t.Errorf("it is %s (%s), want %s", got, c.at(t, "/plain").State, test.want)
			}
			c.mountInside(t, "/plain/after")
			if leaks := n.mounted(t, n.shared+"/cdi/after"); leaks != (test.want == "shared") {
				t.Errorf("a mount of the container reaches the host: %t", leaks)
			}
		})
	}
}

// TestAMountNobodyAskedForIsRaisedByItsSource and not by a rule about what
// somebody asked for.
func TestAMountNobodyAskedForIsRaisedByItsSource(t *testing.T) {
	for _, bySource := range []bool{true, false} {
		n := newNode(t)
		n.mkfile(t, n.shared+"/cdi/x")
		c := n.run(t, nil, "rslave", n.shared+"/cdi:/plain:rprivate")
		r := c.request(t)
		r.Decide = decides(func(facts.Mount) policy.Decision {
			return policy.Decision{Judged: true, Action: facts.ActionSet, Propagation: facts.Slave, Rule: "up", BySource: bySource}
		})
		result := apply(t, r)
		if got := c.at(t, "/plain").State.Master != 0; got != bySource {
			t.Errorf("by source %t: raised %t; %+v", bySource, got, result.Strays)
		}
		if bySource && (len(result.Strays) != 1 || result.Strays[0].Result != facts.Applied || result.Strays[0].Asked != facts.Private) {
			t.Errorf("strays %+v", result.Strays)
		}
	}
}

// TestFromAnotherNamespace: the runtime's mounts are cloned where they are, not
// where we are.
func TestFromAnotherNamespace(t *testing.T) {
	n := newNode(t)
	runtime := linuxtest.Start(t, "container", &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}, n.rootfs, "apart", n.shared)
	runtime.Line(t)
	view, err := hostview.Open(hostview.Options{PID: runtime.Pid, Wait: time.Minute})
	must(t, err)
	t.Cleanup(func() { must(t, view.Close()) })
	if view.Namespace().Truth != facts.No {
		t.Fatalf("the runtime is not elsewhere: %+v", view.Namespace())
	}
	c := n.run(t, nil, "rslave", n.shared+":/data:rprivate")
	c.process, err = view.OpenProcess(c.Pid)
	must(t, err)
	t.Cleanup(func() { _ = c.process.Close() })
	o := n.deferred(t, n.shared, "/data", facts.Private, facts.Slave)
	r := c.request(t, o)
	r.Host = view
	r.Lookup = func(path string) (facts.HostMount, error) { return view.Lookup(t.Context(), path) }
	result := apply(t, r)
	theirs, err := view.Lookup(t.Context(), n.shared)
	must(t, err)
	if e := c.at(t, "/data"); result.Outcomes[0].Result != facts.Applied || e.State.Master != theirs.State.Peer {
		t.Errorf("/data is %s, the runtime's is %s: %+v", e.State, theirs.State, result.Outcomes[0])
	}
}
