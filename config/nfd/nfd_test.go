package nfd_test

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mountward/mountward/pkg/cli"
)

// features runs doctor on this machine, whatever its answer is.
func features(t *testing.T) map[string]string {
	t.Helper()
	var out, errs bytes.Buffer
	code := cli.Execute(t.Context(), cli.Program{Args: []string{"doctor", "-o", "nfd"}, Stdout: &out, Stderr: &errs})
	if code == cli.ExitUsage || out.Len() == 0 {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	all := map[string]string{}
	for line := range strings.Lines(out.String()) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(name, "#") {
			all[name] = value
		}
	}
	return all
}

// TestTheRuleReadsWhatIsWritten: a feature that no file has is one that no node
// can match.
func TestTheRuleReadsWhatIsWritten(t *testing.T) {
	rule, err := os.ReadFile("nodefeaturerule.yaml")
	if err != nil {
		t.Fatal(err)
	}
	written := features(t)
	read := regexp.MustCompile(`(mountward\.io/[a-z-]+): \{op: `).FindAllStringSubmatch(string(rule), -1)
	if len(read) == 0 {
		t.Error("the rule reads nothing")
	}
	for _, name := range read {
		if _, ok := written[name[1]]; !ok {
			t.Errorf("%s is not written: %v", name[1], written)
		}
	}
}

// TestTheReadmeHasAllLabels, and no other.
func TestTheReadmeHasAllLabels(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, m := range regexp.MustCompile("(?m)^\\| `(mountward\\.io/[a-zA-Z.-]+)`").FindAllStringSubmatch(string(text), -1) {
		told = append(told, m[1])
	}
	written := features(t)
	for name := range written {
		if !slices.Contains(told, name) && !strings.HasPrefix(name, "mountward.io/problem.") {
			t.Errorf("%s is written, and README.md does not have it", name)
		}
	}
	for _, name := range told {
		if _, ok := written[name]; !ok && name != "mountward.io/problem.CODE" {
			t.Errorf("README.md has %s, which is not written", name)
		}
	}
}
