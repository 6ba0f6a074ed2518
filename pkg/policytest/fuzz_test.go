package policytest

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/config"
	"github.com/mountward/mountward/pkg/internal/strict"
	"github.com/mountward/mountward/pkg/policy"
)

// FuzzParse: every file is either refused with places in it, or has tests that
// each expect something, in names that forge no line; and these give the same
// answer every time, one of each mount.
func FuzzParse(f *testing.F) {
	shipped, err := os.ReadFile("../../config/policy_test.toml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(shipped)
	for _, text := range []string{
		"policy = [\"p\"]\n[[test]]\nname = \"n\"\n[[test.mount]]\nsource = \"/x\"\nexpect.action = \"deny\"\n",
		"policy = [\"p\"]\ntest = [{ name = \"n\", mount = [{ source = \"rel\", destination = \"\", options = [\"shared\", \"x\"], expect = { hazards = [] } }] }]\n",
		"policy = [\"p\"]\n[host]\nkubelet_root = \"\"\nlinks = { \"/a\" = \"/a/a\", \"/b\" = \"..\" }\nmount = [{ at = \"/\", propagation = \"private\" }]\n[[test]]\nname = \"n\"\nmount = [{ source = \"/a/../b\", expect = { outcome = \"left\", propagation = \"unset\" } }]\n",
		"policy = [\"p\"]\n[[test]]\nname = \"n\"\nmount = [{ source = \"/x\", volume = { kind = \"csi\", name = \"\" }, lv = [\"a/b\"], expect = { action = \"allow\" } }]\n",
		"[[test]]\n[test.mount]\n",
	} {
		f.Add([]byte(text))
	}
	p, err := policy.Parse(policy.File{Name: "policy.toml", Data: config.Policy()})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse("x", data)
		if err != nil {
			var all strict.Errors
			if !errors.As(err, &all) || len(all) == 0 || all[0].Line == 0 {
				t.Fatalf("an error without a place: %v", err)
			}
			return
		}
		if len(file.Policy) == 0 || len(file.Cases) == 0 && file.Workloads == nil {
			t.Fatal("a file that tests nothing")
		}
		for _, c := range file.Cases {
			expects := 0
			for _, e := range c.Expect {
				if e.Any() {
					expects++
				}
			}
			if c.Name == "" || strings.ContainsAny(c.Name, "\n\r\x1b") || expects == 0 || len(c.Expect) != len(c.Container.Mounts) {
				t.Fatalf("a test without a name or that expects nothing: %+v", c)
			}
			first, again := c.Run(p, daemon), c.Run(p, daemon)
			if diff := cmp.Diff(first.Failures, again.Failures); diff != "" {
				t.Fatalf("two answers: %s", diff)
			}
			if len(first.Outcomes) != len(c.Expect) {
				t.Fatalf("%d outcomes of %d mounts", len(first.Outcomes), len(c.Expect))
			}
			NewCoverage(p).Add(first)
		}
	})
}
