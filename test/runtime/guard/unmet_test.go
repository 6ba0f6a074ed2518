//go:build linux

package guard_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rspec "github.com/opencontainers/runtime-spec/specs-go"

	"github.com/mountward/mountward/test/runtime/adapt"
	"github.com/mountward/mountward/test/runtime/harness"
)

// TestARaiseThatCannotBeIsFoundByUsFirst is T15: a raise on a private source, or
// of a mount that is read-only with all below it, would be an error of the
// runtime or a broken promise. The container goes on as it asks, or is refused
// in our words, as the rule says.
func TestARaiseThatCannotBeIsFoundByUsFirst(t *testing.T) {
	dirs := harness.TestHostDirs(t)
	b := onAdaptation(t, rulesByNamespace+`
[[rule]]
name = "raise-or-not-at-all"
match.namespace = ["all-or-nothing"]
match.destination = ["/data"]
action = "set"
propagation = "rslave"
on_unmet = "deny"
`, adapt.Config{})
	for _, test := range []struct {
		name    string
		mount   rspec.Mount
		refused string // what the refusal names; "" is raised
	}{
		{"private source", bind("/data", dirs.Private.Path, "rprivate", "rw"), "private"},
		{"read-only with all below it", bind("/data", dirs.Shared.Path, "rprivate", "rro"), "rro"},
		{"one that can be", bind("/data", dirs.Shared.Path, "rprivate", "ro"), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := test.mount
			if test.refused == "" {
				want = bind("/data", dirs.Shared.Path, "rslave", "ro")
			}
			got, err := b.create("raise", privileged(test.mount))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]rspec.Mount{want}, got); diff != "" {
				t.Errorf("mounts (-want +got):\n%s", diff)
			}
			_, err = b.create("all-or-nothing", privileged(test.mount))
			switch {
			case test.refused == "" && err != nil:
				t.Errorf("error = %v, want none", err)
			case test.refused != "" && (err == nil || !strings.Contains(err.Error(), "mountward: ") || !strings.Contains(err.Error(), test.refused)):
				t.Errorf("error = %v, want our refusal that names %q", err, test.refused)
			}
		})
	}
}
