package policy

import (
	"strings"
	"testing"

	"github.com/mountward/mountward/config"
	"github.com/mountward/mountward/pkg/facts"
)

func builtin(t testing.TB) *Policy {
	t.Helper()
	p, err := Parse(File{"policy.toml", config.Policy()})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// enforced is the built-in policy with its mode switched.
func enforced(t testing.TB) *Policy {
	t.Helper()
	text := string(config.Policy())
	if strings.Count(text, `mode    = "audit"`) != 1 {
		t.Fatal("the built-in policy has no line that sets mode to audit")
	}
	p, err := Parse(File{"policy.toml", []byte(strings.Replace(text, `mode    = "audit"`, `mode    = "enforce"`, 1))})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestBuiltInPolicyOnlyAudits(t *testing.T) {
	p := builtin(t)
	if p.Mode != ModeAudit || p.Default != facts.ActionAllow || p.Version != 1 {
		t.Errorf("mode %q, default %q, version %d", p.Mode, p.Default, p.Version)
	}
	for _, r := range p.Rules {
		if r.Reason == "" {
			t.Errorf("rule %q has no reason", r.Name)
		}
		if r.Action == facts.ActionDeny || r.Action == facts.ActionSet && r.Propagation != facts.Slave {
			t.Errorf("rule %q: action %s %s", r.Name, r.Action, r.Propagation)
		}
	}
}

func TestBuiltInPolicyExamplesInCommentsAreRight(t *testing.T) {
	var text []string
	example := false
	for line := range strings.Lines(string(config.Policy())) {
		example = example || strings.HasPrefix(line, "# By example")
		if rest, ok := strings.CutPrefix(line, "#   "); example && ok {
			line = rest
		}
		text = append(text, line)
	}
	p, err := Parse(File{"policy.toml", []byte(strings.Join(text, ""))})
	if err != nil {
		t.Fatal(err)
	}
	if got, had := len(p.Rules), len(builtin(t).Rules); got != had+3 {
		t.Errorf("%d rules with the examples, %d without: want 3 more", got, had)
	}
}
