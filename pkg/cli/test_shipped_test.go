package cli

import (
	"bytes"
	"path/filepath"
	"testing"
)

// TestShippedPoliciesPassTheirTests: every policy that is shipped has tests
// beside it that pass, reach all its rules, and say what it breaks.
func TestShippedPoliciesPassTheirTests(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../config/*_test.toml")
	if err != nil {
		t.Fatal(err)
	}
	examples, err := filepath.Glob("../../config/examples/*_test.toml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	var out, errs bytes.Buffer
	p := Program{Args: append([]string{"test", "--min-coverage", "100"}, append(files, examples...)...), Stdout: &out, Stderr: &errs}
	if code := Execute(t.Context(), p); code != ExitYes {
		t.Errorf("exit code %d\n%s%s", code, &out, &errs)
	}
}
