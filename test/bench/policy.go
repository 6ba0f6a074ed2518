//go:build linux

package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
)

// decide measures the decision about a container with 12 CSI volumes, by 200
// rules of which none decides: every mount is asked about with all of them.
func decide(rounds int) error {
	p, err := policy.Parse(policy.File{Name: "policy.toml", Data: []byte(policyText(200))})
	if err != nil {
		return err
	}
	c, env := decided(p)
	for _, trace := range []bool{false, true} {
		name := "policy.decide_12x200"
		if trace {
			name, rounds = "policy.explain_12x200", rounds/10
		}
		took := make([]time.Duration, 0, rounds)
		for range rounds {
			begun := time.Now()
			decisions := p.Decide(c, env, trace)
			took = append(took, time.Since(begun))
			if len(decisions) != len(c.Mounts) || decisions[0].Rule != "" || trace && len(decisions[0].Trace) != 200 {
				return fmt.Errorf("decision about %d mounts: %+v", len(c.Mounts), decisions[0])
			}
		}
		slices.Sort(took)
		figure(name, us(took[len(took)/2]), "us")
		figure(name+".p99", us(took[len(took)*99/100]), "us")
	}
	return nil
}

// policyText makes a policy of the shapes that rules have.
func policyText(n int) string {
	shapes := []string{
		`namespace = ["team-%d-*"], propagation = ["shared"]`,
		`container = ["agent-%d"], source = ["/var/lib/kubelet", "/var/lib/kubelet/pods"]`,
		`source = ["/data/%d/**"]`,
		`pod_labels = { app = "exporter-%d" }, source = ["/var/log/**", "${runtime_state}/**"]`,
		`image = ["registry.example.com/infra-%d/*"], privileged = true`,
		`propagation = ["shared"], source = ["${kubelet_root}/plugins/driver-%d/**"]`,
		`volume = { kind = ["hostPath"], name = ["v-%d"] }`,
		`namespace = ["*"], destination = ["/host/%d/**"]`,
		`source = ["/var/lib/kubelet/pods/*/volumes/kubernetes.io~nfs/%d/**"]`,
		`volume = { driver = ["driver-%d.example.com"] }, readonly = true`,
	}
	var b strings.Builder
	b.WriteString("version = 1\nmode = \"enforce\"\ndefault = \"allow\"\n")
	for i := range n {
		match := fmt.Sprintf(shapes[i%len(shapes)], i)
		fmt.Fprintf(&b, "[[rule]]\nname = \"r%d\"\nmatch = { %s }\naction = \"deny\"\n", i, match)
	}
	return b.String()
}

// decided is the container, and a node on which every path is what it says.
func decided(p *policy.Policy) (facts.Container, policy.Env) {
	env := policy.Env{
		Vars:     policy.Vars{KubeletRoot: "/var/lib/kubelet", RuntimeState: "/run/containerd", RuntimeRoot: "/var/lib/containerd"},
		Prefixes: map[string]facts.HostMount{},
	}
	for _, prefix := range p.Prefixes(env.Vars) {
		env.Prefixes[prefix] = facts.HostMount{Canonical: prefix, MountPoint: "/", Device: facts.DeviceNumber{Major: 8, Minor: 1}, Root: "/"}
	}
	c := facts.Container{
		Name: "app", Image: "registry.example.com/shop/cart:1", Privileged: facts.Is(false, "the sysfs at /sys is ro"),
		Pod: facts.Pod{Namespace: "shop", Name: "cart-7d9f", UID: "uid", Labels: map[string]string{"app": "cart"}},
	}
	for i := range 12 {
		source := fmt.Sprintf("/var/lib/kubelet/pods/uid/volumes/kubernetes.io~csi/pvc-%d/mount", i)
		c.Mounts = append(c.Mounts, facts.Mount{
			Source: source, Destination: fmt.Sprint("/data", i), Type: "bind", Options: []string{"rbind", "rprivate"},
			Host:   &facts.HostMount{Canonical: source, MountPoint: source, Device: facts.DeviceNumber{Major: 253, Minor: uint32(i)}, Root: "/"},
			Volume: facts.Volume{Kind: facts.Says("csi"), Name: facts.Says(fmt.Sprint("pvc-", i)), Driver: facts.Says("topolvm.io")},
		})
	}
	return c, env
}
