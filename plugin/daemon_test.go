package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mountward/mountward/pkg/policy"
	"github.com/mountward/mountward/pkg/policyfile"
	"github.com/mountward/mountward/pkg/settings"
)

const (
	enforcing = "version = 1\nmode = \"enforce\"\ndefault = \"allow\"\n"
	auditing  = "version = 1\nmode = \"audit\"\ndefault = \"allow\"\n"
)

// node is a daemon's files.
type node struct {
	tb                    testing.TB
	dir, policy, settings string
}

func newNode(tb testing.TB, policyText, moreSettings string) *node {
	tb.Helper()
	dir := tb.TempDir()
	n := &node{tb, dir, filepath.Join(dir, "policy.toml"), filepath.Join(dir, "mountward.toml")}
	n.write(n.policy, policyText)
	n.write(n.settings, fmt.Sprintf("policy = %q\nstate_dir = %q\nruntime_dir = %q\naudit.journal = false\naudit.file = %q\nhost.kubelet_root = \"/k\"\n%s\n",
		n.policy, dir+"/state", dir+"/run", dir+"/audit.jsonl", moreSettings))
	return n
}

func (n *node) write(path, text string) {
	n.tb.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		n.tb.Fatal(err)
	}
}

// daemon returns one that was not started.
func (n *node) daemon() *daemon {
	d := newDaemon(settings.Source{Path: n.settings, Explicit: true}, nil)
	n.tb.Cleanup(d.close)
	return d
}

// trail returns what a daemon wrote, and closes it.
func (n *node) trail(d *daemon) string {
	n.tb.Helper()
	d.close()
	text, err := os.ReadFile(filepath.Join(n.dir, "audit.jsonl"))
	if err != nil {
		n.tb.Fatal(err)
	}
	return string(text)
}

// TestASettingsMistakeIsNoWayOutOfEnforcement: not at the start, and not by a
// reload.
func TestASettingsMistakeIsNoWayOutOfEnforcement(t *testing.T) {
	const deny = "guard.on_policy_error = \"deny\""
	for _, test := range []struct {
		name   string
		before bool // a good policy was in force once
		deny   bool // everything is refused
	}{
		{"nothing before: refused as asked", false, true},
		{"the last good policy, from where the settings say", true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := newNode(t, enforcing, deny)
			if test.before {
				d := n.daemon()
				d.start("")
				if d.force.Load().origin != policyfile.OriginFile {
					t.Fatalf("%+v", d.force.Load())
				}
				d.close()
			}
			n.write(n.policy, auditing)
			text, err := os.ReadFile(n.settings)
			if err != nil {
				t.Fatal(err)
			}
			n.write(n.settings, string(text)+"nonsense = 1\n")
			d := n.daemon()
			d.start("")
			for _, when := range []string{"at the start", "after a reload"} {
				force := d.force.Load()
				if (force.refuse != nil) != test.deny {
					t.Errorf("%s: refuses %v", when, force.refuse)
				}
				if test.before && (force.policy.Mode != policy.ModeEnforce || force.origin != policyfile.OriginLastGood) {
					t.Errorf("%s: %s from %s", when, force.policy.Mode, force.origin)
				}
				d.loadPolicy()
			}
			trail := n.trail(d)
			rejected, _, _ := strings.Cut(trail[strings.LastIndex(trail, "policy-rejected"):], "\n")
			for _, want := range []string{n.settings, "nonsense", "restart mountward"} {
				if !strings.Contains(rejected, want) {
					t.Errorf("the record of the reload has no %q: %s", want, rejected)
				}
			}
			if got := strings.Count(trail, "mountward.policy-loaded"); got != map[bool]int{true: 1}[test.before] {
				t.Errorf("%d records of a loaded policy", got)
			}
		})
	}
}

// TestAGoodPolicyIsLoadedAnew: as it is where the settings have no mistake.
func TestAGoodPolicyIsLoadedAnew(t *testing.T) {
	n := newNode(t, enforcing, "")
	d := n.daemon()
	d.start("")
	n.write(n.policy, auditing)
	d.loadPolicy()
	if force := d.force.Load(); force.policy.Mode != policy.ModeAudit || force.origin != policyfile.OriginFile {
		t.Errorf("%s from %s", force.policy.Mode, force.origin)
	}
}

// TestTheTrailSaysWhyALaunchedPluginEnds: also where it was never configured.
func TestTheTrailSaysWhyALaunchedPluginEnds(t *testing.T) {
	n := newNode(t, enforcing, "")
	d := n.daemon()
	t.Setenv("NRI_PLUGIN_SOCKET", "987654")
	if err := d.serve(t.Context(), serveLaunched); err == nil {
		t.Fatal("served on a descriptor that is not open")
	}
	if trail := n.trail(d); !strings.Contains(trail, "mountward ends") || !strings.Contains(trail, "find the runtime's process") {
		t.Errorf("trail: %s", trail)
	}
}

// TestTheTrailSaysWhatIsMissingWithoutACopy of the policy.
func TestTheTrailSaysWhatIsMissingWithoutACopy(t *testing.T) {
	n := newNode(t, enforcing, "")
	n.write(n.dir+"/state", "in the way")
	d := n.daemon()
	d.start("")
	if trail := n.trail(d); !strings.Contains(trail, "no copy of it could be saved: if the policy file is broken or missing when mountward starts again") {
		t.Errorf("trail: %s", trail)
	}
	if d.mistakes != nil {
		t.Error(d.mistakes)
	}
}
