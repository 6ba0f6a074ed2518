package config_test

import (
	"os"
	"strings"
	"testing"

	"github.com/mountward/mountward/config"
	"github.com/mountward/mountward/pkg/policy"
)

// TestReadmePolicies: every policy a reader may copy is one the daemon loads.
func TestReadmePolicies(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, block := range strings.Split(string(text), "```toml\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		found++
		if _, err := policy.Parse(policy.File{Name: "README.md", Data: []byte(block)}); err != nil {
			t.Errorf("%v in:\n%s", err, block)
		}
	}
	if found == 0 {
		t.Error("README.md has no policy")
	}
}

// TestBuiltIn: the shipped policy is the built-in one and only watches.
func TestBuiltIn(t *testing.T) {
	shipped, err := os.ReadFile("policy.toml")
	if err != nil {
		t.Fatal(err)
	}
	if string(shipped) != string(config.Policy()) {
		t.Error("the embedded policy is not policy.toml")
	}
	p, err := policy.Parse(policy.File{Name: "policy.toml", Data: shipped})
	if err != nil {
		t.Fatal(err)
	}
	if p.Mode != policy.ModeAudit || p.Default != "allow" {
		t.Errorf("mode %s, default %s; want audit, allow", p.Mode, p.Default)
	}
}
