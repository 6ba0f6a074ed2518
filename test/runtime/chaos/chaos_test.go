//go:build linux

package main

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/test/runtime/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// begin sets up a run that ends with the test. must fails the test with what the
// run has said so far.
func begin(t *testing.T, o options) (c *chaos, out *bytes.Buffer, must func(error)) {
	t.Helper()
	harness.NeedsRoot(t)
	out = new(bytes.Buffer)
	c = newChaos(t.TempDir(), out, o)
	t.Cleanup(func() {
		if err := c.close(); err != nil {
			t.Error(err)
		}
	})
	must = func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	must(c.setUp())
	return c, out, must
}

// TestNothingForbiddenEverRuns is the short form of "make chaos".
func TestNothingForbiddenEverRuns(t *testing.T) {
	harness.NeedsRoot(t)
	var out bytes.Buffer
	c, err := run(t.Context(), t.TempDir(), &out, options{
		pods: 40, starts: 100, workers: 6, seed: uint64(time.Now().UnixNano()), mode: "enforce",
	})
	var figures bytes.Buffer
	c.print(&figures)
	t.Logf("%s\n%s", &out, &figures)
	if err != nil {
		t.Fatal(err)
	}
	if wrong := c.wrong(); len(wrong) > 0 {
		t.Errorf("what must be 0 is not: %q", wrong)
	}
	for _, name := range []string{"pods", "started", "refused", "kills", "starts", "swaps"} {
		if c.counts[name] == 0 {
			t.Errorf("%s is 0: nothing was tried", name)
		}
	}
}

// TestWhatIsForbiddenIsSeen: a test that cannot fail shows nothing. Without the
// plugin being required, containers run while it is away.
func TestWhatIsForbiddenIsSeen(t *testing.T) {
	harness.NeedsRoot(t)
	for name, o := range map[string]options{
		"not required": {open: true, mode: "enforce"},
		"audit":        {mode: "audit"},
	} {
		t.Run(name, func(t *testing.T) {
			before, err := harness.Mountinfo(0)
			o.pods, o.workers, o.seed = 16, 4, 1
			c, _, must := begin(t, o)
			must(err)
			must(c.beService())
			if name == "not required" {
				c.endService() // away for good
			}
			must(c.storm(context.WithoutCancel(t.Context()), name, o.pods, runtimeOnly()))
			after, err := harness.Mountinfo(0)
			must(err)
			must(c.judgeAll(lasting(before, after)))
			for _, figure := range []string{"forbidden_started", "unadjusted"} {
				if c.counts[figure] == 0 {
					t.Errorf("%s is 0, and nothing was guarded", figure)
				}
			}
		})
	}
}

// TestJudge: a mount is judged by the groups of the host and not by the word.
func TestJudge(t *testing.T) {
	host := groups{7: true, 8: true}
	at := func(point string, shared, master int) harness.Mount {
		return harness.Mount{Point: point, Shared: shared, Master: master}
	}
	all := shape{volumes: []volume{
		{at: "/allow", asked: harness.Bidirectional, want: both},
		{at: "/lower", asked: harness.Bidirectional, want: down},
		{at: "/raise", asked: harness.None, want: down},
	}}
	denied := shape{volumes: []volume{{at: "/deny", asked: harness.Bidirectional, want: both, deny: true}}}
	tests := []struct {
		name                   string
		shape                  shape
		static                 bool
		mounts                 harness.Mounts
		more, less, same, runc int
	}{
		{"as decided", all, false, harness.Mounts{at("/allow", 7, 0), at("/lower", 0, 7), at("/raise", 0, 7)}, 0, 0, 0, 0},
		{"a group of its own", all, false, harness.Mounts{at("/allow", 7, 0), at("/lower", 30, 7), at("/raise", 31, 7)}, 0, 0, 0, 0},
		{"as asked", all, false, harness.Mounts{at("/allow", 7, 0), at("/lower", 7, 0), at("/raise", 0, 0)}, 1, 1, 2, 0},
		{"too much", all, false, harness.Mounts{at("/allow", 7, 0), at("/lower", 0, 7), at("/raise", 8, 0)}, 1, 0, 0, 0},
		{"another mount", all, false, harness.Mounts{at("/allow", 7, 0), at("/lower", 0, 7), at("/raise", 0, 7), at("/etc/hosts", 8, 0)}, 1, 0, 0, 0},
		{"what came along", all, false, harness.Mounts{at("/allow", 7, 0), at("/allow/a", 8, 0), at("/lower", 0, 7), at("/raise", 0, 7)}, 0, 0, 0, 0},
		{"missing", all, false, harness.Mounts{at("/allow", 7, 0), at("/lower", 0, 7)}, 0, 1, 0, 0},
		{"a cgroup", all, false, harness.Mounts{at("/allow", 7, 0), at("/lower", 0, 7), at("/raise", 0, 7), {Point: "/sys/fs/cgroup/cpu", FSType: "cgroup", Shared: 8}}, 0, 0, 0, 1},
		{"denied", denied, false, harness.Mounts{at("/deny", 0, 0)}, 1, 0, 0, 0},
		{"denied, static", denied, true, harness.Mounts{at("/deny", 7, 0)}, 0, 0, 0, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			v := test.shape.judge(test.static, test.mounts, host)
			got := []int{len(v.more), len(v.less), len(v.same), len(v.own)}
			if diff := cmp.Diff([]int{test.more, test.less, test.same, test.runc}, got); diff != "" {
				t.Errorf("more, less, same, own (-want +got):\n%s\n%+v", diff, v)
			}
		})
	}
}

// TestLasting: the number of a group that is gone is given to another one.
func TestLasting(t *testing.T) {
	before := harness.Mounts{{ID: 1, Shared: 5}, {ID: 2, Shared: 6}, {ID: 3, Shared: 7}, {ID: 4}}
	after := harness.Mounts{{ID: 1, Shared: 5}, {ID: 2, Shared: 9}, {ID: 4, Shared: 6}}
	if diff := cmp.Diff(groups{5: true}, lasting(before, after)); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
}

func TestCreators(t *testing.T) {
	dump := `SIGQUIT: quit
PC=0x47 m=0 sigcode=0

goroutine 0 gp=0x1 m=0 mp=0x1 [idle]:
runtime.futex()

goroutine 1 gp=0x2 m=nil [select]:
main.serveSocket()

goroutine 18 gp=0x3 m=nil [chan receive]:
main.(*chores).run()
	/x.go:1
created by main.serve in goroutine 1
	/x.go:2

goroutine 19 gp=0x4 m=nil [chan receive]:
main.(*chores).run()
created by main.serve in goroutine 1

rax    0x0
`
	if diff := cmp.Diff(map[string]int{"main": 2, "main.serve": 2}, creators(dump)); diff != "" {
		t.Errorf("creators (-want +got):\n%s", diff)
	}
}
