package policy

import (
	"strings"
	"testing"

	"github.com/mountward/mountward/pkg/facts"
)

// agent is a container of which everything is known.
func agent() facts.Container {
	m := bind("/var/lib/kubelet/plugins/kubernetes.io/csi/topolvm.io/x/globalmount", "/in", "rslave", "rro")
	m.Host = &facts.HostMount{Canonical: m.Source, MountPoint: "/var/lib/kubelet", State: facts.MountState{Peer: 7, Master: 1}}
	m.Volume = facts.Volume{Kind: facts.Says("hostPath"), Name: facts.Says("pvc-1"), Driver: facts.Says("topolvm.io")}
	m.Storage = &facts.Storage{Known: true, LVs: []facts.LogicalVolume{{VG: "vg0", LV: "pvc-1"}, {VG: "vg1", LV: "cache"}}}
	return facts.Container{
		Image: "registry.example.com/storage/agent:1", UserNamespace: true,
		Pod:    facts.Pod{Runtime: "kata", Annotations: map[string]string{"example.com/team": "storage", "empty": ""}},
		Mounts: []facts.Mount{m},
	}
}

// plain is one of which the same is known to be otherwise.
func plain() facts.Container {
	m := bind("/srv", "/in", "runbindable", "rw")
	m.Host = &facts.HostMount{Canonical: "/srv", MountPoint: "/"}
	m.Volume = facts.Volume{Kind: facts.Says("hostPath"), Name: facts.Says(""), Driver: facts.Says("")}
	m.Storage = &facts.Storage{Known: true, Why: "tmpfs"}
	return facts.Container{Image: "docker.io/library/busybox:1", Mounts: []facts.Mount{m}}
}

// TestSelectorsOfKnownFacts: every key holds where its fact is in the list, not
// where it is not, and the same under except the other way round.
func TestSelectorsOfKnownFacts(t *testing.T) {
	tests := []struct {
		match        string
		agent, plain bool
		excepted     string // the same as one key of except, where it reads otherwise
	}{
		{match: `pod_annotations = { "example.com/team" = "stor*" }`, agent: true},
		{match: `pod_annotations = { "example.com/team" = ["x", "storage"], empty = "" }`, agent: true},
		{match: `pod_annotations = { "example.com/team" = "storage", missing = "*" }`},
		{match: `image = ["registry.example.com/*"]`, agent: true},
		{match: `image = ["registry.example.com/**"]`, agent: true},
		{match: `image = ["*/busybox:*", "x"]`, plain: true},
		{match: `image = ["busybox"]`},
		{match: `runtime_handler = ["kata*"]`, agent: true},
		{match: `runtime_handler = [""]`, plain: true},
		{match: `runtime_handler = ["runc", ""]`, plain: true},
		{match: `runtime_handler = ["*"]`, agent: true, plain: true},
		{match: `propagation = ["unbindable"]`, plain: true},
		{match: `propagation = ["slave", "unset"]`, agent: true},
		{match: `readonly = true`, agent: true},
		{match: `readonly = false`, plain: true},
		{match: `user_namespace = true`, agent: true},
		{match: `user_namespace = false`, plain: true},
		{match: `volume.kind = ["hostPath"]`, agent: true, plain: true},
		{match: `volume.kind = ["csi", "none"]`},
		{match: `volume.name = ["pvc-*"]`, agent: true},
		{match: `volume.name = ["*"]`, agent: true},
		{match: `volume.driver = ["topolvm.io"]`, agent: true},
		{match: `volume = { driver = ["topolvm.io"], name = ["x"] }`},
		{match: `volume = { driver = ["topolvm.io"], name = ["pvc-?"], kind = ["hostPath"] }`, agent: true},
		{match: `host.propagation = ["shared"]`, agent: true},
		{match: `host.propagation = ["slave"]`, agent: true},
		{match: `host.propagation = ["private"]`, plain: true},
		{match: `host.propagation = ["unbindable"]`},
		{match: `lvm.vg = ["vg*"]`, agent: true},
		{match: `lvm.lv = ["cache"]`, agent: true},
		{match: `lvm = { vg = ["vg1"], lv = ["cache"] }`, agent: true},
		{match: `lvm = { vg = ["vg0"], lv = ["cache"] }`}, // of no one volume
	}
	for _, test := range tests {
		for _, action := range []string{"allow", "deny", "audit"} {
			if strings.HasPrefix(test.match, "lvm") && action != "audit" {
				continue
			}
			rule := head + "[[rule]]\nname = \"a\"\naction = \"" + action + "\"\n"
			match := parse(t, rule+"match = { "+test.match+" }\n")
			except := parse(t, rule+"match = {}\nexcept = { "+test.match+" }\n")
			for name, c := range map[string]facts.Container{"agent": agent(), "plain": plain()} {
				want := test.agent
				if name == "plain" {
					want = test.plain
				}
				if got := applies(t, match, c); got != want {
					t.Errorf("%s %s of %s: matches %v, want %v", action, test.match, name, got, want)
				}
				if got := applies(t, except, c); got == want {
					t.Errorf("%s except %s of %s: matches %v, want %v", action, test.match, name, got, !want)
				}
			}
		}
	}
}

// applies reports whether the only rule of a policy applies, and nothing was
// unknown about it.
func applies(t *testing.T, p *Policy, c facts.Container) bool {
	t.Helper()
	d := p.Decide(c, Env{}, true)[0]
	if len(d.Unknown) > 0 {
		t.Errorf("unknown: %q", d.Unknown)
	}
	return d.Rule != "" || len(d.Audited) == 1
}

// TestFactsThatAreNotKnown: each is never in the pod's favour, but what is not
// known of the host never matches; and the trace says why it is not known.
func TestFactsThatAreNotKnown(t *testing.T) {
	const late = "it is not known (no answer in 50ms), wants "
	unknown := func(change func(*facts.Mount)) facts.Container {
		c := agent()
		c.Image = ""
		change(&c.Mounts[0])
		return c
	}
	gone := unknown(func(m *facts.Mount) { m.Host, m.HostWhy = nil, "no answer in 50ms" })
	moved := unknown(func(m *facts.Mount) { m.Actual = facts.Identity{Root: "/other"} })
	bare := unknown(func(m *facts.Mount) { m.Volume, m.Host.MountPoint = facts.Volume{}, "" })
	half := unknown(func(m *facts.Mount) {
		m.Volume.Kind, m.Volume.Driver = facts.Untold("a sub-path"), facts.Untold("vol_data.json is empty")
		m.Storage = &facts.Storage{Why: "the device is gone"}
	})
	tests := []struct {
		match string
		c     facts.Container
		why   string
	}{
		{`image = ["*"]`, gone, `it is not known (this runtime does not tell the image; containerd does from 2.4 on), wants "*"`},
		{`host.propagation = ["shared"]`, gone, late + `"shared"`},
		{`host.propagation = ["shared", "private"]`, moved, `it is not known (the source leads elsewhere now), wants "shared" or "private"`},
		{`host.propagation = ["private"]`, bare, `it is not known (the source was not resolved on the host), wants "private"`},
		{`volume.kind = ["csi"]`, bare, `it is not known, wants "csi"`},
		{`volume.kind = ["csi"]`, half, `it is not known (a sub-path), wants "csi"`},
		{`volume.driver = ["x"]`, half, `it is not known (vol_data.json is empty), wants "x"`},
		{`lvm.vg = ["vg0"]`, half, `it is not known (the device is gone), wants volume group "vg0"`},
	}
	for _, test := range tests {
		for _, action := range []string{"allow", "deny", "audit"} {
			if strings.HasPrefix(test.match, "lvm") && action != "audit" {
				continue
			}
			p := parse(t, head+"[[rule]]\nname = \"a\"\nmatch = { "+test.match+" }\naction = \""+action+"\"\n")
			d := p.Decide(test.c, Env{}, true)[0]
			host := strings.HasPrefix(test.match, "host")
			if got := d.Rule == "a" || len(d.Audited) == 1; got != (action != "allow" && !host) {
				t.Errorf("%s %s: matches %v", action, test.match, got)
			}
			if step := d.Trace[0]; step.Matched != facts.Unknown || step.Why != test.why || (len(d.Unknown) != 1) != (action == "audit") {
				t.Errorf("%s %s: %+v, unknown %q; want why %q", action, test.match, step, d.Unknown, test.why)
			}
			if (d.Unjudged != "") != (host && action != "audit") {
				t.Errorf("%s %s: unjudged %q", action, test.match, d.Unjudged)
			}
		}
	}
}

// TestExceptTakesATableAsOneKey: of except one key is enough, but what is written
// in one table is one key.
func TestExceptTakesATableAsOneKey(t *testing.T) {
	const text = head + "[[rule]]\nname = \"a\"\nmatch = {}\naction = \"deny\"\nexcept."
	for except, want := range map[string]bool{
		`volume = { kind = ["hostPath"], driver = ["x"] }`:                                       true,
		`volume = { kind = ["hostPath"], driver = ["topolvm.io"] }`:                              false,
		`pod_annotations = { "example.com/team" = "storage", empty = "x" }`:                      true,
		"volume = { kind = [\"csi\"] }\nexcept.pod_annotations = { empty = \"\" }":               false,
		"volume = { kind = [\"csi\"], driver = [\"x\"] }\nexcept.host.propagation = [\"slave\"]": false,
	} {
		if got := applies(t, parse(t, text+except+"\n"), agent()); got != want {
			t.Errorf("%s: denies %v, want %v", except, got, want)
		}
	}
}

// TestRulesAboutLogicalVolumesWaitForTheMap: before the storage was looked up
// they have no part, whatever the mount.
func TestRulesAboutLogicalVolumesWaitForTheMap(t *testing.T) {
	p := parse(t, head+`[[rule]]
name = "lvs"
match.lvm.vg = ["vg0"]
action = "audit"
[[rule]]
name = "but some"
match = {}
except.lvm.lv = ["pvc-*"]
action = "audit"
[[rule]]
name = "last"
match = {}
action = "deny"
`)
	if !p.AsksStorage() || parse(t, head).AsksStorage() {
		t.Error("AsksStorage")
	}
	c := agent()
	if d := p.Decide(c, Env{}, true)[0]; len(d.Audited) != 1 || !d.Audited[0].Stored || d.Audited[0].Rule != "lvs" || d.Rule != "last" {
		t.Errorf("with storage: %+v", d)
	}
	c.Mounts[0].Storage = nil
	d := p.Decide(c, Env{}, true)[0]
	if len(d.Audited)+len(d.Unknown) != 0 || d.Rule != "last" || len(d.Trace) != 3 || d.Trace[0].Matched != facts.Unknown || d.Trace[0].Selector != "lvm" {
		t.Errorf("without: %+v", d)
	}
}

// TestWhatThePolicyAsksFor: what no rule asks for need not be found out.
func TestWhatThePolicyAsksFor(t *testing.T) {
	const rule = head + "[[rule]]\nname = \"a\"\nmatch = {}\naction = \"audit\"\n"
	for key, want := range map[string][5]bool{
		"":                             {},
		`match.namespace = ["volume"]`: {},
		`match.volume.name = ["x"]`:    {true},
		`match.volume.kind = ["csi"]`:  {true, true},
		`except.volume.driver = ["x"]`: {true, false, true},
		`except.lvm.vg = ["x"]`:        {false, false, false, true},
		`except.hazard = ["MW101"]`:    {false, false, false, false, true},
		"except.volume = { name = [\"x\"], kind = [\"csi\"] }": {true, true},
	} {
		text := rule
		if strings.HasPrefix(key, "match") {
			text = strings.Replace(rule, "match = {}", key, 1)
		} else {
			text += key
		}
		p := parse(t, text)
		if got := [5]bool{p.AsksVolumes(), p.AsksKinds(), p.AsksDrivers(), p.AsksStorage(), p.AsksHazards()}; got != want {
			t.Errorf("%s: %v, want %v", key, got, want)
		}
	}
}

// TestWhatCannotBeToldOfTheHostDecidesNothing: no rule that asks for
// host.propagation matches, nor by another fact that is not known either, nor by
// its except.
func TestWhatCannotBeToldOfTheHostDecidesNothing(t *testing.T) {
	const unknown = "privileged = true, "
	m := bind("/srv", "/in", "rshared")
	m.HostWhy = "no answer in 50ms"
	known := m
	known.Host, known.HostWhy = &facts.HostMount{Canonical: "/srv", MountPoint: "/", State: facts.MountState{Peer: 1}}, ""
	for _, test := range []struct {
		match, except string
		known         bool // applies where the host is known to be shared
	}{
		{`host.propagation = ["shared"]`, "", true},
		{`host.propagation = ["private"]`, "", false},
		{unknown + `host.propagation = ["shared"]`, "", true},
		{"", `host.propagation = ["private"]`, true},
		{"", `host.propagation = ["shared"]`, false},
		{"", unknown + `host.propagation = ["private"]`, true},
		{unknown, `host.propagation = ["private"]`, true},
	} {
		for _, last := range []string{"action = \"deny\"", "action = \"audit\"", "action = \"deny\"\nmode = \"audit\""} {
			text := head + "[[rule]]\nname = \"a\"\nmatch = { " + strings.TrimSuffix(test.match, ", ") + " }\n" + last + "\n"
			if test.except != "" {
				text += "except = { " + test.except + " }\n"
			}
			p := parse(t, text)
			of := func(m facts.Mount) Decision {
				return p.Decide(facts.Container{Privileged: facts.CannotTell("no sign"), Mounts: []facts.Mount{m}}, Env{}, false)[0]
			}
			if d := of(m); applied(d) {
				t.Errorf("%s: applies where the host is not known: %+v", text, d)
			}
			if d := of(known); applied(d) != test.known || d.Unjudged != "" {
				t.Errorf("%s: where the host is known: %+v", text, d)
			}
		}
	}
}
