package lint

import (
	"os"
	"strings"
	"testing"

	"github.com/mountward/mountward/config"
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

// Its comments show what an own policy may add.
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
	clean(t, text.String())
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
