package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mountward/mountward/pkg/facts"
)

// benchEnv is a node that resolves every path to itself.
func benchEnv(p *Policy) Env {
	env := Env{
		Vars:     Vars{KubeletRoot: "/var/lib/kubelet", RuntimeState: "/run/containerd", RuntimeRoot: "/var/lib/containerd"},
		Prefixes: map[string]facts.HostMount{},
	}
	for _, prefix := range p.Prefixes(env.Vars) {
		env.Prefixes[prefix] = facts.HostMount{Canonical: prefix, MountPoint: "/", Device: facts.DeviceNumber{Major: 8, Minor: 1}, Root: "/"}
	}
	return env
}

// benchContainer has 12 mounts of CSI volumes.
func benchContainer() facts.Container {
	c := facts.Container{
		Name: "app", Image: "registry.example.com/shop/cart:1", Privileged: facts.Is(false, "sysfs is ro"),
		Pod: facts.Pod{Namespace: "shop", Name: "cart-7d9f", Labels: map[string]string{"app": "cart", "team": "shop"}},
	}
	for i := range 12 {
		m := bind(fmt.Sprintf("/var/lib/kubelet/pods/uid/volumes/kubernetes.io~csi/pvc-%d/mount", i), fmt.Sprintf("/data%d", i), "rprivate")
		m.Host = &facts.HostMount{Canonical: m.Source, MountPoint: m.Source, Device: facts.DeviceNumber{Major: 253, Minor: uint32(i)}, Root: "/"}
		m.Volume = facts.Volume{Kind: facts.Says("csi"), Name: facts.Says(fmt.Sprint("pvc-", i)), Driver: facts.Says("topolvm.io")}
		c.Mounts = append(c.Mounts, m)
	}
	return c
}

// manyRules makes a policy of n rules, none of which decides, of the shapes that
// policies have.
func manyRules(n int) string {
	shapes := []string{
		`match = { namespace = ["team-%d-*"], propagation = ["shared"] }`,
		`match = { container = ["agent-%d"], source = ["/var/lib/kubelet", "/var/lib/kubelet/pods"] }`,
		`match = { source = ["/data/%d/**"] }`,
		`match = { pod_labels = { app = "exporter-%d" }, source = ["/var/log/**", "${runtime_state}/**"] }`,
		`match = { image = ["registry.example.com/infra-%d/*"], privileged = true }`,
		`match = { propagation = ["shared"], source = ["${kubelet_root}/plugins/driver-%d/**"] }`,
		`match = { volume = { kind = ["hostPath"], name = ["v-%d"] } }`,
		`match = { namespace = ["*"], destination = ["/host/%d/**"] }`,
		`match = { source = ["/var/lib/kubelet/pods/*/volumes/kubernetes.io~nfs/%d/**"] }`,
		`match = { volume = { driver = ["driver-%d.example.com"] }, readonly = true }`,
		`match = { container = ["*-%d"], source = ["/data/x", "/*/x"] }`,
	}
	var b strings.Builder
	b.WriteString(head)
	for i := range n {
		fmt.Fprintf(&b, "[[rule]]\nname = \"r%d\"\n"+shapes[i%len(shapes)]+"\naction = \"deny\"\n", i, i)
	}
	return b.String()
}

// BenchmarkDecide is a container of 12 mounts.
func BenchmarkDecide(b *testing.B) {
	c := benchContainer()
	for _, bench := range []struct {
		name   string
		policy *Policy
		trace  bool
	}{
		{"built-in", builtin(b), false},
		{"200 rules", parse(b, manyRules(200)), false},
		{"200 rules, with trace", parse(b, manyRules(200)), true},
		{"5,000 rules", parse(b, manyRules(5000)), false},
	} {
		env := benchEnv(bench.policy)
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				bench.policy.Decide(c, env, bench.trace)
			}
		})
	}
}

// TestADecisionAllocatesNothingForARule: a policy may be long, and a container
// must not pay for it in garbage.
func TestADecisionAllocatesNothingForARule(t *testing.T) {
	c := benchContainer()
	count := func(n int) float64 {
		p := parse(t, manyRules(n))
		env := benchEnv(p)
		if d := p.Decide(c, env, false)[0]; d.Rule != "" || len(d.Unknown) > 0 {
			t.Fatalf("a rule decides: %+v", d)
		}
		return testing.AllocsPerRun(20, func() { p.Decide(c, env, false) })
	}
	if few, many := count(10), count(1000); many > few {
		t.Errorf("%v allocations for 10 rules, %v for 1,000", few, many)
	}
}
