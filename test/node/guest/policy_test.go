//go:build linux

package guest

import (
	"crypto/sha256"
	"fmt"
	"os"
	"testing"
)

const policyFile = "/etc/mountward/policy.toml"

const enforcing = `version = 1
mode    = "enforce"
default = "allow"
[[rule]]
name = "agents-follow-new-volumes"
match.source = ["${kubelet_root}/pods"]
match.propagation = ["private"]
action = "set"
propagation = "rslave"
[[rule]]
name = "only-csi-drivers"
reason = "ask the storage team"
match.propagation = ["shared"]
except.role = ["csi-node"]
action = "deny"
`

// enforce puts a policy in force as an administrator does, and the old one back
// with the end of the test.
func enforce(t *testing.T, policy string) {
	t.Helper()
	old, err := os.ReadFile(policyFile)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { load(t, string(old)) })
	load(t, policy)
}

// load writes a policy, reloads the service and waits for its word that the
// policy is in force.
func load(t *testing.T, policy string) {
	t.Helper()
	match := []string{
		"MOUNTWARD_EVENT=policy-loaded",
		fmt.Sprintf("MOUNTWARD_POLICY_SHA256=%x", sha256.Sum256([]byte(policy))),
	}
	before, err := journal(match...)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(policyFile+".new", []byte(policy), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(policyFile+".new", policyFile); err != nil {
		t.Fatal(err)
	}
	output(t, "systemctl", "reload", service)
	await(t, "the policy to be in force", func() (any, error) {
		all, err := journal(match...)
		if err == nil && len(all) <= len(before) {
			err = errNotYet
		}
		return nil, err
	})
}

// TestReload is "systemctl reload": a good policy is loaded, a bad one is
// refused by ExecReload's check. The daemon finds the bad file by itself, under
// its unit, and keeps what it has.
func TestReload(t *testing.T) {
	connect(t)
	enforce(t, enforcing)
	if err := os.WriteFile(policyFile, []byte("version = 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := run("systemctl", "reload", service); err == nil {
		t.Error("reload of a bad policy: no error")
	}
	await(t, "the daemon to reject the policy", func() (any, error) {
		rejected, err := journal("MOUNTWARD_EVENT=policy-rejected")
		if err == nil && len(rejected) == 0 {
			err = errNotYet
		}
		return nil, err
	})
	stays(t)
}
