package policytest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/policy"
)

const testPolicy = `
version = 1
mode = "audit"
default = "allow"
[hazards]
MW108 = "ignore"
[[rule]]
name = "drivers"
match.role = ["csi-node"]
match.propagation = ["shared"]
action = "allow"
[[rule]]
name = "seen"
match.propagation = ["shared"]
action = "audit"
[[rule]]
name = "tried"
mode = "audit"
match.source = ["/data/y"]
action = "deny"
[[rule]]
name = "trusted"
match.privileged = true
match.source = ["/data/**"]
action = "allow"
[[rule]]
name = "refused"
match.source = ["/data/**"]
action = "deny"
[[rule]]
name = "follows"
match.source = ["/run"]
action = "set"
propagation = "rslave"
`

func results(t *testing.T, p *policy.Policy, text string) []Result {
	t.Helper()
	f, err := Parse("x_test.toml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var all []Result
	for _, c := range f.Cases {
		all = append(all, c.Run(p, daemon))
	}
	return all
}

// TestWhatIsExpectedAndTrueFailsNothing: each expectation is of a fact that
// changes the decision.
func TestWhatIsExpectedAndTrueFailsNothing(t *testing.T) {
	p := parsed(t, testPolicy)
	for _, r := range results(t, p, `
policy = ["p.toml"]
[[test]]
name = "the role is computed from the whole list"
mount = [
  { source = "/var/lib/kubelet", propagation = "rshared", expect = { rule = "drivers", audited = [] } },
  { source = "/var/lib/kubelet/plugins/x", destination = "/x" },
]
[[test]]
name = "and is none without the other mount"
mount = [{ source = "/var/lib/kubelet", propagation = "rshared", expect = { action = "allow", rule = "", audited = ["seen"], propagation = "rshared" } }]
[[test]]
name = "and is none where the kubelet is elsewhere"
host.kubelet_root = "/data/kubelet"
mount = [
  { source = "/var/lib/kubelet", propagation = "rshared", expect = { rule = "" } },
  { source = "/var/lib/kubelet/plugins/x", destination = "/x" },
]
[[test]]
name = "privileged"
container.privileged = true
mount = [{ source = "/data/x", expect = { rule = "trusted", outcome = "unchanged" } }]
[[test]]
name = "a rule in audit mode decides nothing"
container.privileged = true
mount = [{ source = "/data/y", propagation = "rshared", expect = { rule = "trusted", audited = ["tried", "seen"] } }]
[[test]]
name = "not privileged"
container.privileged = false
mount = [{ source = "/data/x", expect = { rule = "refused", outcome = "refused", action = "deny" } }]
[[test]]
name = "unknown: never in the container's favour"
container.privileged = "unknown"
mount = [{ source = "/data/x", expect = { rule = "refused" } }]
[[test]]
name = "a link to what is refused, and .. of a link"
host.links = { "/srv/d" = "/data/d" }
mount = [
  { source = "/srv/d/x", expect = { rule = "refused" } },
  { source = "/srv/d/../y", expect = { rule = "refused" } },
  { source = "/srv/data/x", expect = { rule = "" } },
]
[[test]]
name = "another mount of what is refused"
host.mount = [{ at = "/data", device = "253:3" }, { at = "/mnt", device = "253:3" }, { at = "/other", device = "253:4" }]
mount = [
  { source = "/mnt/x", expect = { rule = "refused" } },
  { source = "/other/x", expect = { rule = "" } },
]
[[test]]
name = "a shared that is spelled in another way"
mount = [{ source = "/x", options = ["bind", "shared"], expect = { audited = ["seen"], propagation = "rshared" } }]
[[test]]
name = "a host that shares nothing"
host.mount = [{ at = "/", propagation = "private" }]
mount = [{ source = "/run", expect = { action = "set", propagation = "rprivate", outcome = "left" } }]
[[test]]
name = "a static pod is not refused"
pod.static = true
mount = [{ source = "/data/x", expect = { action = "deny", propagation = "rprivate", outcome = "left" } }]
[[test]]
name = "what cannot be resolved is known by its name alone"
host = { unresolved = ["/srv", "/data"], links = { "/srv/d" = "/data" } }
mount = [
  { source = "/data/x", expect = { rule = "refused" } },
  { source = "/srv/d/x", expect = { rule = "" } },
]
[[test]]
name = "raised"
mount = [{ source = "/run", expect = { action = "set", propagation = "rslave", outcome = "applied" } }]
[[test]]
name = "hazards of the whole list, and none that the policy ignores"
mount = [
  { source = "/x", destination = "/a", propagation = "rshared", expect = { hazards = ["MW101"] } },
  { source = "/y", destination = "/a/b", expect = { hazards = ["MW101"] } },
  { source = "/z", destination = "/a/../c", expect = { hazards = [] } },
]
[[test]]
name = "no bind is judged"
mount = [{ type = "tmpfs", destination = "/dev/shm", options = ["nosuid"], expect = { action = "allow", rule = "" } }]
`) {
		if diff := cmp.Diff([]Failure(nil), r.Failures); diff != "" {
			t.Errorf("%s: %s", r.Name, diff)
		}
	}
}

func TestWhatIsExpectedAndNotTrueFails(t *testing.T) {
	p := parsed(t, testPolicy)
	got := results(t, p, `
policy = ["p.toml"]
[[test]]
name = "x"
mount = [
  { source = "/x" },
  { source = "/data/x", expect = { action = "allow", rule = "refuse", propagation = "rprivate", outcome = "unchanged", audited = ["refused", "nobody"], hazards = ["MW101"] } },
  { source = "/run", expect = { action = "set", rule = "follows", propagation = "rprivate" } },
  { source = "/y", propagation = "rshared", expect = { audited = [], rule = "hazards.MW101" } },
]
`)[0].Failures
	want := []Failure{
		{1, "action", "allow", "deny", ""},
		{1, "rule", "refuse", "refused", `the policy has no rule "refuse", did you mean "refused"?`},
		{1, "propagation", "rprivate", "none: the container is refused", ""},
		{1, "outcome", "unchanged", "refused", ""},
		{1, "audited", `["nobody", "refused"]`, "[]", `the policy has no rule "nobody"`},
		{1, "hazards", `["MW101"]`, "[]", ""},
		{2, "propagation", "rprivate", "rslave", ""},
		{3, "rule", "hazards.MW101", "", ""},
		{3, "audited", "[]", `["seen"]`, ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestCoverageCountsWhatIsLookedAtAlone(t *testing.T) {
	p := parsed(t, testPolicy)
	c := NewCoverage(p)
	if c.Percent() != 0 || len(c.Missed()) != 6 {
		t.Errorf("nothing ran: %v%%, missed %v", c.Percent(), c.Missed())
	}
	for _, r := range results(t, p, `
policy = ["p.toml"]
[[test]]
name = "x"
mount = [
  { source = "/run" }, # reaches "follows", but nothing is expected of it
  { source = "/data/x", propagation = "rshared", expect = { action = "deny" } },
  { source = "/data/y", expect = { action = "deny" } },
]
`) {
		c.Add(r)
	}
	want := []Covered{
		{"drivers", "p.toml:7", 2, 0},
		{"seen", "p.toml:12", 2, 1},
		{"tried", "p.toml:16", 2, 1},
		{"trusted", "p.toml:21", 2, 0},
		{"refused", "p.toml:26", 2, 2},
		{"follows", "p.toml:30", 0, 0},
	}
	if diff := cmp.Diff(want, c.Rules); diff != "" || c.Percent() != 50 {
		t.Errorf("%v%%, want 50; -want +got\n%s", c.Percent(), diff)
	}
	if got := NewCoverage(parsed(t, "version = 1\nmode = \"audit\"\ndefault = \"deny\"\n")).Percent(); got != 100 {
		t.Errorf("a policy without rules: %v%%, want 100", got)
	}
}
