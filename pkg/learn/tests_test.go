package learn

import (
	"testing"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
	"github.com/mountward/mountward/pkg/policytest"
)

// TestTheTestsAreReadable: what they say of the host and of each container, which
// mounts they leave out, and that each shape of a workload's container is tested
// once, and once what it may not.
func TestTheTestsAreReadable(t *testing.T) {
	privileged := func(a facts.Answer, c facts.Container) facts.Container {
		c.Privileged = a
		return c
	}
	driver := privileged(facts.Is(true, ""), running("kube-system", "driver-x7k2p", "driver",
		bind("/", "/host", facts.Shared), bind("/", "/again", facts.Slave), bind("/var/log", "/log", facts.Slave), bind("/opt/cni", "/cni", facts.Unset)))
	web := func(pod string, more ...facts.Mount) facts.Container {
		return privileged(facts.Is(false, ""), running("prod", pod, "app", append([]facts.Mount{
			bind("/srv", "/srv", facts.Slave),
			{Destination: "/tmpfs", Type: "tmpfs", Source: "/tmpfs", Options: []string{"rslave"}},
			bind("no-path", "/no-path", facts.Slave),
			bind("/srv/\xff", "/bytes", facts.Slave),
			bind("/srv", "/\xff", facts.Slave),
		}, more...)...))
	}
	odd := running("prod", "odd", "app", bind("/srv", "/srv", facts.Slave))
	odd.Pod.UID = "\xff"
	s := Seen{
		From: "a test", Vars: policy.Vars{KubeletRoot: "/data/kubelet", RuntimeRoot: "/\xff"},
		Containers: []facts.Container{
			driver, web("web-0"), web("web-1"), web("web-2", bind("/etc", "/etc", facts.Slave)), odd,
			{ID: "idle", Name: "idle", Pod: facts.Pod{Namespace: "prod", Name: "idle"}, Mounts: []facts.Mount{{Destination: "/proc", Type: "proc", Source: "proc"}}},
		},
	}
	l, err := Learn(s)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/policy_test.toml", l.Tests)
	f, err := policytest.Parse(TestsName, l.Tests)
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Parse(policy.File{Name: PolicyName, Data: l.Policy})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range f.Cases {
		for _, failure := range c.Run(p, daemon).Failures {
			t.Errorf("test %q: mount %d: %s: want %s, got %s", c.Name, failure.Mount, failure.Key, failure.Want, failure.Got)
		}
	}
}
