package lint

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
)

// maker makes policies and containers out of bytes.
type maker struct {
	data []byte
	keys int // which a policy has: 0 sources alone, 1 few, 2 mostly one of the rarer facts, else any
}

func (m *maker) byte() int {
	if len(m.data) == 0 {
		return 0
	}
	b := m.data[0]
	m.data = m.data[1:]
	return int(b)
}

func (m *maker) one(words ...string) string { return words[m.byte()%len(words)] }

// list is a list of one to three of the words, in TOML.
func (m *maker) list(words ...string) string {
	var all []string
	for range 1 + m.byte()%3 {
		all = append(all, fmt.Sprintf("%q", m.one(words...)))
	}
	return "[" + strings.Join(all, ", ") + "]"
}

var (
	globs = []string{"a", "a*", "ab", "*", "b?", "{a,b}c", "**", "a[bc]"}
	paths = []string{
		"/data", "/data/**", "/data/*", "/data/?*", "/data/x", "/data/x/**", "/data/*/y", "/data/[^a]y", "/data/{x,a/k}", "/data/{x,z}*", "/**", "/", "/*/x",
		"${kubelet_root}", "${kubelet_root}/**", "${kubelet_root}/pods", "/data/${runtime_root}", "/data/*/${runtime_root}", "${runtime_state}",
	}
)

// table is one to all of some keys with globs for names, each after the list of
// its own words where it has any.
func (m *maker) table(keys string, words ...[]string) string {
	var all []string
	for i, key := range strings.Fields(keys) {
		from := globs
		if i < len(words) {
			from = words[i]
		}
		if m.byte()%2 == 0 || len(all) == 0 && i == len(strings.Fields(keys))-1 {
			all = append(all, key+" = "+m.list(from...))
		}
	}
	return "{ " + strings.Join(all, ", ") + " }"
}

// condition is what stands below match or except of a rule with the action, as
// lines.
func (m *maker) condition(under, action string) string {
	var b strings.Builder
	only := m.byte() % 9 // of the rarer facts
	for i, key := range []struct {
		rare int
		name string
		text func() string
	}{
		{9, "readonly", func() string { return m.one("true", "false") }},
		{9, "user_namespace", func() string { return m.one("true", "false") }},
		{8, "pod_annotations", func() string { return "{ app = " + m.list(globs...) + " }" }},
		{8, "image", func() string { return m.list(globs...) }},
		{8, "runtime_handler", func() string { return m.list(append(slices.Clone(globs), "")...) }},
		{7, "volume", func() string { return m.table("kind name driver", []string{"csi", "hostPath", "none"}) }},
		{8, "host", func() string { return "{ propagation = " + m.list("private", "slave", "shared", "unbindable") + " }" }},
		{8, keyLVM, func() string { return m.table("vg lv") }},
		{3, "namespace", func() string { return m.list(globs...) }},
		{6, "container", func() string { return m.list(globs...) }},
		{4, "pod_labels", func() string {
			if m.byte()%2 == 0 {
				return "{ app = " + m.list(globs...) + " }"
			}
			return "{ app = " + m.list(globs...) + ", tier = " + m.list(globs...) + " }"
		}},
		{2, "propagation", func() string {
			if m.byte()%4 == 0 { // all but one, or all
				return fmt.Sprintf("[%s]", strings.ReplaceAll(`"private", "slave", "shared", "unset", "unbindable"`, m.one(`"private", `, `, "unbindable"`, `, "shared"`, "none"), ""))
			}
			return m.list(m.kinds()...)
		}},
		{5, "privileged", func() string { return m.one("true", "false") }},
		{7, "static_pod", func() string { return m.one("true", "false") }},
		{7, "role", func() string { return `["csi-node"]` }},
		{7, "hazard", func() string { return m.list("MW101", "MW102", "MW105") }},
		{2, "source", func() string { return m.list(paths...) }},
		{5, "destination", func() string { return m.list(paths...) }},
	} {
		one := m.byte()%(2*key.rare) == 1
		switch m.keys {
		case 0:
			one = key.name == "source" && under == "match"
		case 1:
			one = one && key.rare <= 3
		case 2:
			one = i == only || one && key.rare <= 2
		}
		if key.name == keyLVM && action != "audit" {
			continue
		}
		if one {
			fmt.Fprintf(&b, "%s.%s = %s\n", under, key.name, key.text())
		}
	}
	return b.String()
}

const keyLVM = "lvm"

func (*maker) kinds() []string { return []string{"private", "slave", "shared", "unset", "unbindable"} }

func (m *maker) policy() string {
	var b strings.Builder
	b.WriteString(head)
	m.keys = m.byte() % 5
	for i := range 2 + m.byte()%5 {
		fmt.Fprintf(&b, "[[rule]]\nname = \"%d\"\nreason = \"r\"\n", i)
		action := m.one("allow", "allow", "set", "deny", "audit")
		match := m.condition("match", action)
		if match == "" {
			match = "match = {}\n"
		}
		b.WriteString(match)
		if m.byte()%3 == 0 {
			b.WriteString(m.condition("except", action))
		}
		fmt.Fprintf(&b, "action = %q\n", action)
		if action == "set" {
			b.WriteString("propagation = \"rslave\"\n")
		}
		if m.byte()%8 == 1 {
			b.WriteString("mode = \"audit\"\n")
		}
	}
	return b.String()
}

func (m *maker) path() string {
	return m.one("/data", "/data/x", "/data/x/y", "/data/xz", "/data/z/y", "/other", "/", "/kubelet", "/kubelet/pods", "/kubelet/pods/u",
		"/data/k", "/data/k/k2", "/data/a/y", "/data//y", "/data/../other", "rel", "", "/x/x", "/data/a/k")
}

func (m *maker) name() string {
	return m.one("a", "ab", "abc", "ac", "bc", "b", "bx", "", "c", "a/b", "a\n", "\xff")
}

func (m *maker) identity() facts.Identity {
	return facts.Identity{Device: facts.DeviceNumber{Major: uint32(m.byte() % 2), Minor: uint32(m.byte() % 3)}, Root: m.path()}
}

// host is what a path leads to: anything, or with spelling what it says.
func (m *maker) host(at string, spelling bool) *facts.HostMount {
	if m.byte()%3 == 0 {
		return nil
	}
	if spelling {
		return &facts.HostMount{Canonical: at, MountPoint: "/", Device: facts.DeviceNumber{Major: 8}, Root: "/", State: m.state()}
	}
	id := m.identity()
	return &facts.HostMount{Canonical: m.path(), MountPoint: m.path(), Device: id.Device, Root: id.Root, State: m.state()}
}

func (m *maker) state() facts.MountState {
	return facts.MountState{Peer: m.byte() % 2, Master: m.byte() % 2, Unbindable: m.byte()%3 == 0}
}

// word is a fact that is not known, none, or one of the words.
func (m *maker) word(words ...string) facts.Word {
	if m.byte()%3 == 0 {
		return facts.Word{}
	}
	return facts.Says(m.one(append(words, "", m.name())...))
}

func (m *maker) storage() *facts.Storage {
	s := &facts.Storage{Known: m.byte()%3 > 0}
	switch {
	case m.byte()%3 == 0:
		return nil
	case !s.Known:
		return s
	}
	for range m.byte() % 3 {
		s.LVs = append(s.LVs, facts.LogicalVolume{VG: m.name(), LV: m.name()})
	}
	return s
}

func (m *maker) container(spelling bool) facts.Container {
	c := facts.Container{
		Name: m.name(), Role: m.one("", facts.RoleCSINode), Privileged: facts.Answer{Truth: facts.Truth(m.byte() % 3)},
		Image: m.name(), UserNamespace: m.byte()%2 == 0,
		Pod: facts.Pod{Namespace: m.name(), Name: m.name(), Runtime: m.name(), Labels: map[string]string{}, Annotations: map[string]string{}},
	}
	for range m.byte() % 3 {
		c.Pod.Labels[m.one("app", "tier")] = m.name()
	}
	if m.byte()%2 == 0 {
		c.Pod.Annotations["app"] = m.name()
	}
	if m.byte()%4 == 0 {
		c.Pod.Annotations[facts.AnnotationConfigSource] = m.one("file", "api")
	}
	for range 1 + m.byte()%3 {
		mount := facts.Mount{Source: m.path(), Destination: m.path(), Type: "bind"}
		if spelling {
			mount.Source, _ = facts.CleanAbs("/" + mount.Source)
		}
		if word := m.one("rprivate", "rslave", "rshared", "runbindable", ""); word != "" {
			mount.Options = []string{word}
		}
		if word := m.one("ro", "rw", "rro", ""); word != "" {
			mount.Options = append(mount.Options, word)
		}
		mount.Volume = facts.Volume{Kind: m.word("csi", "hostPath", "none"), Name: m.word(), Driver: m.word()}
		mount.Storage = m.storage()
		mount.Host = m.host(mount.Source, spelling)
		if !spelling && m.byte()%3 == 0 {
			mount.Actual = m.identity()
		}
		c.Mounts = append(c.Mounts, mount)
		if m.byte()%3 == 0 {
			c.Hazards = append(c.Hazards, facts.Hazard{
				Code: facts.HazardCode(m.one("MW101", "MW102", "MW105")), Doubt: m.one("", "a link"), Destinations: []string{mount.Destination},
			})
		}
	}
	return c
}

func (m *maker) env(p *policy.Policy, spelling bool) policy.Env {
	env := policy.Env{Vars: policy.Vars{KubeletRoot: "/kubelet", RuntimeState: "/data/x", RuntimeRoot: "/k"}}
	if !spelling {
		env.Vars = policy.Vars{KubeletRoot: m.one("/kubelet", "", "/data"), RuntimeState: m.one("/data/x", ""), RuntimeRoot: m.one("/k", "", "/")}
	}
	env.Prefixes = map[string]facts.HostMount{}
	for _, prefix := range p.Prefixes(env.Vars) {
		if host := m.host(prefix, spelling); host != nil {
			env.Prefixes[prefix] = *host
		}
	}
	return env
}

// unreached asks a policy about containers and fails where a rule that lint
// says is never asked decides or records something. It returns how many rules
// lint said it of.
func unreached(t *testing.T, m *maker, containers int) (certain, spelled int) {
	t.Helper()
	text := m.policy()
	p, err := policy.Parse(policy.File{Name: "p.toml", Data: []byte(text)})
	if err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	findings := Check(p, Options{})
	var never, bySpelling []string
	for _, f := range findings {
		switch certain := []facts.LintCode{facts.LintUnreachable, facts.LintShadowed}; {
		case slices.Contains(certain, f.Code), f.Code == facts.LintNeverMatches && strings.Contains(f.Message, "takes out all"):
			never = append(never, f.Rule)
		case f.Code == facts.LintShadowedPath:
			bySpelling = append(bySpelling, f.Rule)
		}
	}
	for i := range containers {
		spelling := i%2 == 0
		c, env := m.container(spelling), m.env(p, spelling)
		for k, d := range p.Decide(c, env, false) {
			reached := []string{d.Rule}
			for _, a := range d.Audited {
				reached = append(reached, a.Rule)
			}
			for _, s := range d.Shadow {
				reached = append(reached, s.Rule)
			}
			for _, name := range reached {
				if name != "" && (slices.Contains(never, name) || spelling && slices.Contains(bySpelling, name)) {
					t.Fatalf("rule %q is reached by %+v\nof %+v\nin %+v\nfindings %v\nin:\n%s", name, c.Mounts[k], c, env, findings, text)
				}
			}
		}
	}
	return len(never), len(bySpelling)
}

// TestWhatIsNeverAskedIsNeverAsked: a rule that lint calls unreachable, shadowed
// or never matching decides and records none of many made-up mounts, whatever is
// not known of them and wherever their paths lead; one that it calls shadowed by
// its spelling none whose paths lead where they say.
func TestWhatIsNeverAskedIsNeverAsked(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	certain, spelled := 0, 0
	const policies, containers = 1000, 20
	for range policies {
		data := make([]byte, 300+containers*120)
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		c, s := unreached(t, &maker{data: data}, containers)
		certain, spelled = certain+c, spelled+s
	}
	t.Logf("%d policies, %d containers each: %d rules never asked, %d by their spelling", policies, containers, certain, spelled)
	if certain < 500 || spelled < 40 {
		t.Errorf("%d and %d rules are too few to show anything", certain, spelled)
	}
}

func FuzzWhatIsNeverAskedIsNeverAsked(f *testing.F) {
	f.Add([]byte("\x00\x01\x02\x03\x04\x05\x06\x07"))
	f.Fuzz(func(t *testing.T, data []byte) { unreached(t, &maker{data: data}, 10) })
}
