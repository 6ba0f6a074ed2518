package main

import (
	"errors"
	"strings"
	"testing"
)

// TestNoPolicyIsOneLine: a policy with many mistakes refuses in one line that
// has the first of them and says how many there are.
func TestNoPolicyIsOneLine(t *testing.T) {
	for _, test := range []struct {
		why  error
		want string
	}{
		{errors.New("p.toml:1:2: x"), `(on_policy_error = "deny"): p.toml:1:2: x`},
		{errors.Join(errors.New("p.toml:1:2: x\np.toml:3:4: y"), errors.New("z")), "p.toml:1:2: x (and 2 more: see the record policy-rejected)"},
	} {
		got := noPolicy(test.why).Error()
		if !strings.HasSuffix(got, test.want) || strings.Contains(got, "\n") {
			t.Errorf("refusal = %q, want one line that ends with %q", got, test.want)
		}
	}
}
