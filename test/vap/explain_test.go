package vap

import (
	"slices"
	"testing"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hazard"
	"github.com/mountward/mountward/pkg/manifest"
	"github.com/mountward/mountward/pkg/policy"
	"github.com/mountward/mountward/pkg/vap"
)

func vars() policy.Vars {
	return policy.Vars{KubeletRoot: "/var/lib/kubelet", RuntimeState: "/run/containerd", RuntimeRoot: "/var/lib/containerd"}
}

func parse(t testing.TB, text string) *policy.Policy {
	t.Helper()
	p, err := policy.Parse(policy.File{Name: "policy.toml", Data: []byte(text)})
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return p
}

func export(t testing.TB, p *policy.Policy) *vap.Exported {
	t.Helper()
	e, err := vap.Export(p, vap.Options{Name: "mountward", Vars: vars()})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// explained is what the node decides about a manifest, as "explain -f" has it.
type explained struct {
	denied bool // some mount that the manifest asks for
	sure   bool // whatever stands behind what the manifest does not show
	rules  map[string]bool
}

// explain decides about every container of a manifest, and about what its mounts
// may be as well.
func explain(t testing.TB, p *policy.Policy, text string) explained {
	t.Helper()
	file, err := manifest.Read([]byte(text), manifest.Options{})
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if len(file.Subjects) == 0 {
		t.Fatalf("no container in\n%s", text)
	}
	e := explained{sure: true, rules: map[string]bool{}}
	for _, s := range file.Subjects {
		base := denied(p, s, e.rules)
		e.denied = e.denied || base
		for i, note := range s.Notes {
			for _, other := range note.Others {
				variant := s
				variant.Container.Mounts = append([]facts.Mount(nil), s.Container.Mounts...)
				variant.Container.Mounts[i] = other
				e.sure = e.sure && denied(p, variant, map[string]bool{}) == base
			}
		}
	}
	return e
}

// denied reports whether a mount that the manifest asks for is denied, and adds
// the rules that deny.
func denied(p *policy.Policy, s manifest.Subject, rules map[string]bool) bool {
	c := s.Container
	c.Mounts = slices.Clone(c.Mounts)
	for i := range c.Mounts {
		m := &c.Mounts[i]
		m.Volume, _ = facts.VolumeOf(&c, m, vars().KubeletRoot)
		if !m.Volume.Kind.Known && s.Notes[i].Kind != "" { // of a sub-path, which a file of the kubelet's tells
			m.Volume.Kind = facts.Says(s.Notes[i].Kind)
		}
	}
	c.Role = facts.Role(c.Mounts, vars().KubeletRoot)
	c.Hazards = hazard.Check(hazard.Asked(c, hazard.Host{KubeletRoot: vars().KubeletRoot, RuntimeState: vars().RuntimeState}))
	result := false
	for i, d := range p.Decide(c, policy.Env{Vars: vars()}, false) {
		if d.Action == facts.ActionDeny && s.Notes[i].MadeBy == "" {
			result = true
			rules[d.Rule] = true
		}
	}
	return result
}
