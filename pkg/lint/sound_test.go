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
	keys int // which a policy has: 0 sources alone, 1 few, else any
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

// condition is what stands below match or except, as lines.
func (m *maker) condition(under string) string {
	var b strings.Builder
	for _, key := range []struct {
		rare int
		name string
		text func() string
	}{
		{3, "namespace", func() string { return m.list(globs...) }},
		{6, "container", func() string { return m.list(globs...) }},
		{4, "pod_labels", func() string {
			if m.byte()%2 == 0 {
				return "{ app = " + m.list(globs...) + " }"
			}
			return "{ app = " + m.list(globs...) + ", tier = " + m.list(globs...) + " }"
		}},
		{2, "propagation", func() string { return m.list(m.kinds()...) }},
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
		}
		if one {
			fmt.Fprintf(&b, "%s.%s = %s\n", under, key.name, key.text())
		}
	}
	return b.String()
}

func (*maker) kinds() []string { return []string{"private", "slave", "shared", "unset"} }

func (m *maker) policy() string {
	var b strings.Builder
	b.WriteString(head)
	m.keys = m.byte() % 4
	for i := range 2 + m.byte()%5 {
		fmt.Fprintf(&b, "[[rule]]\nname = \"%d\"\nreason = \"r\"\n", i)
		match := m.condition("match")
		if match == "" {
			match = "match = {}\n"
		}
		b.WriteString(match)
		if m.byte()%3 == 0 {
			b.WriteString(m.condition("except"))
		}
		switch m.byte() % 5 {
		case 0, 1:
			b.WriteString("action = \"allow\"\n")
		case 2:
			b.WriteString("action = \"set\"\npropagation = \"rslave\"\n")
		case 3:
			b.WriteString("action = \"deny\"\n")
		default:
			b.WriteString("action = \"audit\"\n")
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
		return &facts.HostMount{Canonical: at, MountPoint: "/", Device: facts.DeviceNumber{Major: 8}, Root: "/"}
	}
	id := m.identity()
	return &facts.HostMount{Canonical: m.path(), MountPoint: m.path(), Device: id.Device, Root: id.Root}
}

func (m *maker) container(spelling bool) facts.Container {
	c := facts.Container{
		Name: m.name(), Role: m.one("", facts.RoleCSINode), Privileged: facts.Answer{Truth: facts.Truth(m.byte() % 3)},
		Pod: facts.Pod{Namespace: m.name(), Name: m.name(), Labels: map[string]string{}, Annotations: map[string]string{}},
	}
	for range m.byte() % 3 {
		c.Pod.Labels[m.one("app", "tier")] = m.name()
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
		switch f.Code {
		case facts.LintUnreachable, facts.LintShadowed, facts.LintNeverMatches:
			if f.Code != facts.LintNeverMatches || strings.Contains(f.Message, "takes out all") {
				never = append(never, f.Rule)
			}
		case facts.LintShadowedPath:
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
		data := make([]byte, 200+containers*60)
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
