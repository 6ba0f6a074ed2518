package lint

import (
	"os"
	"strings"
	"testing"

	"github.com/mountward/mountward/config"
	"github.com/mountward/mountward/pkg/facts"
)

func clean(t *testing.T, text string) {
	t.Helper()
	for _, f := range Check(parse(t, text), Options{NRI: "0.8.0"}) {
		t.Errorf("%v\nin:\n%s", f, text)
	}
}

func TestTheShippedPolicyHasNoFindings(t *testing.T) {
	clean(t, string(config.Policy()))
	enforced := strings.Replace(string(config.Policy()), `mode    = "audit"`, `mode    = "enforce"`, 1)
	if enforced == string(config.Policy()) {
		t.Fatal("no line sets the mode")
	}
	clean(t, enforced)
}

// Its comments show what an own policy may add, once the namespaces are in force
// that the comment above the first rule asks for; else lint asks for them too.
func TestTheShippedExamplesHaveNoFindings(t *testing.T) {
	var text strings.Builder
	example := false
	for line := range strings.Lines(string(config.Policy())) {
		example = example || strings.HasPrefix(line, "# By example")
		if rest, ok := strings.CutPrefix(line, "#   "); example && ok {
			line = rest
		}
		text.WriteString(line)
	}
	guarded := strings.Replace(text.String(), "\n# match.namespace", "\nmatch.namespace", 1)
	clean(t, guarded)
	findings := Check(parse(t, text.String()), Options{})
	if len(findings) != 1 || findings[0].Code != facts.LintTenants || findings[0].Rule != "csi-node-drivers" {
		t.Errorf("without the namespaces: %v", findings)
	}
}

// A reader may copy any of them.
func TestThePoliciesOfTheReadmeHaveNoFindings(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "```toml\n")[1:]
	if len(blocks) == 0 {
		t.Fatal("README.md has no policy")
	}
	for _, block := range blocks {
		block, _, _ := strings.Cut(block, "```")
		clean(t, block)
	}
}
