package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mountward/mountward/pkg/facts"
)

// BenchmarkDecide is a container of 12 mounts.
func BenchmarkDecide(b *testing.B) {
	c := facts.Container{Name: "c"}
	for i := range 12 {
		m := bind(fmt.Sprintf("/var/lib/kubelet/pods/uid/volumes/kubernetes.io~csi/pvc-%d/mount", i), fmt.Sprintf("/data%d", i), "rprivate")
		m.Host = &facts.HostMount{Canonical: m.Source, MountPoint: m.Source, Device: facts.DeviceNumber{Major: 253, Minor: uint32(i)}, Root: "/"}
		c.Mounts = append(c.Mounts, m)
	}
	env := Env{Vars: Vars{KubeletRoot: "/var/lib/kubelet", RuntimeState: "/run/containerd", RuntimeRoot: "/var/lib/containerd"}}
	long := head
	for i := range MaxRules {
		long += fmt.Sprintf("[[rule]]\nname = \"%d\"\nmatch.source = [\"/data/%[1]d/**\"]\naction = \"deny\"\n", i)
	}
	for name, p := range map[string]*Policy{
		"built-in":     builtin(b),
		"10,000 rules": parse(b, strings.TrimSpace(long)),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Decide(c, env, false)
			}
		})
	}
}
