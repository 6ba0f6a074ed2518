package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheFirstPolicyOfTheReadmeHoldsItsTests: the tests that README.md shows pass
// and reach each of its rules, and enforced it breaks none of the workloads.
func TestTheFirstPolicyOfTheReadmeHoldsItsTests(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	block := func(start, name string) string {
		_, rest, ok := strings.Cut(string(text), "\n```"+start)
		block, _, closed := strings.Cut(rest, "\n```\n")
		if !ok || !closed {
			t.Fatalf("README.md has no block that starts with %q", start)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(start[strings.Index(start, "\n")+1:]+block+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	policy := block("toml\n# /etc/mountward/policy.toml\n", "policy.toml")
	tests := block("\npolicy = [\"policy.toml\"]\n", "policy_test.toml")
	for _, args := range [][]string{
		{"test", "--min-coverage", "100", tests},
		{"test", "--workloads", "../../config/examples/workloads.csv", policy},
		{"check", "--strict", policy},
	} {
		var out, errs bytes.Buffer
		if code := Execute(t.Context(), Program{Args: args, Stdout: &out, Stderr: &errs}); code != ExitYes {
			t.Errorf("%q: exit code %d\n%s%s", args, code, &out, &errs)
		}
	}
}
