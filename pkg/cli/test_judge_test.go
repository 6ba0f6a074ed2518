package cli

import (
	"testing"

	"github.com/mountward/mountward/pkg/policy"
	"github.com/mountward/mountward/pkg/policytest"
)

// TestATestKnowsVolumesByTheirPaths: as the daemon does, so that a rule about
// the pod's own volumes can be tested.
func TestATestKnowsVolumesByTheirPaths(t *testing.T) {
	t.Parallel()
	p, err := policy.Parse(policy.File{Name: "p", Data: []byte(`version = 1
mode = "enforce"
default = "allow"
[[rule]]
name = "others"
reason = "not yours"
match.volume.kind = ["hostPath"]
action = "deny"
`)})
	if err != nil {
		t.Fatal(err)
	}
	f, err := policytest.Parse("x_test.toml", []byte(`policy = ["p"]
[[test]]
name = "kinds"
pod = { uid = "mine" }
mount = [
  { source = "/var/lib/kubelet/pods/mine/volumes/kubernetes.io~empty-dir/x", destination = "/a", expect = { action = "allow" } },
  { source = "/var/lib/kubelet/pods/other/volumes/kubernetes.io~empty-dir/x", destination = "/b", expect = { action = "deny" } },
  { source = "/srv", expect = { action = "deny" } },
]
`))
	if err != nil {
		t.Fatal(err)
	}
	result := f.Cases[0].Run(p, judgeTest)
	for _, failure := range result.Failures {
		t.Errorf("mount %d: %s: want %s, got %s", failure.Mount, failure.Key, failure.Want, failure.Got)
	}
}
