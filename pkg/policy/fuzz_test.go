package policy

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/config"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/strict"
)

// maker makes facts out of a fuzzer's bytes: words that the policies know,
// and raw text.
type maker struct{ data []byte }

func (m *maker) byte() int {
	if len(m.data) == 0 {
		return 0
	}
	b := m.data[0]
	m.data = m.data[1:]
	return int(b)
}

func (m *maker) text(words ...string) string {
	n := m.byte()
	if n < len(words) {
		return words[n]
	}
	n = min(n%16, len(m.data))
	text := string(m.data[:n])
	m.data = m.data[n:]
	return text
}

func (m *maker) path() string {
	return m.text("/", "/var/lib/kubelet", "/var/lib/kubelet/pods", "/data/x", "/run", "/var/run/containerd", "/data/../etc", "rel", "", "/data//")
}

func (m *maker) identity() facts.Identity {
	return facts.Identity{Device: facts.DeviceNumber{Major: uint32(m.byte() % 2), Minor: uint32(m.byte() % 3)}, Root: m.path()}
}

func (m *maker) host() *facts.HostMount {
	if m.byte()%3 == 0 {
		return nil
	}
	at := m.identity()
	state := facts.MountState{Peer: m.byte() % 2, Master: m.byte() % 2}
	return &facts.HostMount{Canonical: m.path(), MountPoint: m.path(), Device: at.Device, Root: at.Root, State: state}
}

func (m *maker) answer() facts.Answer {
	return facts.Answer{Truth: facts.Truth(m.byte() % 4), Why: m.text("why")}
}

func (m *maker) word(words ...string) facts.Word {
	return facts.Word{Known: m.byte()%3 > 0, Text: m.text(words...)}
}

func (m *maker) storage() *facts.Storage {
	s := &facts.Storage{Known: m.byte()%3 > 0}
	for range m.byte() % 3 {
		s.LVs = append(s.LVs, facts.LogicalVolume{VG: m.text("vg0", "vg1"), LV: m.text("a", "b")})
	}
	return s
}

func (m *maker) container() facts.Container {
	c := facts.Container{
		Name: m.text("a", "c"), Role: m.text("", facts.RoleCSINode), Privileged: m.answer(), UserNamespace: m.byte()%2 == 1,
		Image: m.text("", "docker.io/library/busybox:1"),
		Pod:   facts.Pod{Namespace: m.text("b", "kube-system"), Name: m.text("a-1"), Runtime: m.text("", "kata")},
	}
	for range m.byte() % 3 {
		if c.Pod.Labels == nil {
			c.Pod.Labels, c.Pod.Annotations = map[string]string{}, map[string]string{}
		}
		c.Pod.Labels[m.text("app", "tier")] = m.text("x", "")
		c.Pod.Annotations[m.text(facts.AnnotationConfigSource)] = m.text("file", "api")
	}
	for range m.byte() % 5 {
		mount := facts.Mount{Source: m.path(), Destination: m.path(), Type: m.text("bind", "tmpfs", ""), Host: m.host()}
		for range m.byte() % 3 {
			mount.Options = append(mount.Options, m.text("rbind", "rprivate", "rslave", "shared", "runbindable", "ro"))
		}
		if m.byte()%2 == 1 {
			mount.Actual = m.identity()
		}
		mount.Volume = facts.Volume{Kind: m.word("csi", "hostPath", "none", ""), Name: m.word("pvc-1", ""), Driver: m.word("d", "")}
		if m.byte()%2 == 1 {
			mount.Storage = m.storage()
		}
		c.Mounts = append(c.Mounts, mount)
		if m.byte()%3 == 1 {
			c.Hazards = append(c.Hazards, hazard(facts.HazardCode(m.text("MW101", "MW102")), m.text("", "a link"), m.path(), mount.Destination))
		}
	}
	return c
}

func (m *maker) env(p *Policy) Env {
	env := Env{Vars: Vars{KubeletRoot: m.path(), RuntimeState: m.path(), RuntimeRoot: m.path()}}
	for _, prefix := range p.Prefixes(env.Vars) {
		if host := m.host(); host != nil {
			if env.Prefixes == nil {
				env.Prefixes = map[string]facts.HostMount{}
			}
			env.Prefixes[prefix] = *host
		}
	}
	return env
}

// check tests what holds of every decision.
func check(t *testing.T, p *Policy, c facts.Container, env Env) []Decision {
	t.Helper()
	got := p.Decide(c, env, false)
	if len(got) != len(c.Mounts) {
		t.Fatalf("%d decisions for %d mounts", len(got), len(c.Mounts))
	}
	if diff := cmp.Diff(got, p.Decide(c, env, false)); diff != "" {
		t.Fatalf("the same question, another answer: %s", diff)
	}
	for i, traced := range p.Decide(c, env, true) {
		d := got[i]
		if d.Judged != c.Mounts[i].Bind() || !d.Judged && d.Action != facts.ActionAllow {
			t.Fatalf("a mount that is a bind: %v; decision %+v", c.Mounts[i].Bind(), d)
		}
		if d.Action != facts.ActionAllow && d.Action != facts.ActionSet && d.Action != facts.ActionDeny {
			t.Fatalf("action %q", d.Action)
		}
		if (d.Action == facts.ActionSet) != (d.Propagation != facts.Unset) {
			t.Fatalf("action %q with propagation %q", d.Action, d.Propagation)
		}
		ends(t, p, &c.Mounts[i], d, traced)
		traced.Trace = nil
		if diff := cmp.Diff(d, traced); diff != "" {
			t.Fatalf("the trace changed the decision: %s", diff)
		}
	}
	return got
}

// ends tests that the trace has the rules from the first to the one that decided,
// or all where none did, and that only the last of them could decide.
func ends(t *testing.T, p *Policy, m *facts.Mount, d, traced Decision) {
	t.Helper()
	if !d.Judged {
		if len(traced.Trace) > 0 {
			t.Fatalf("a trace of what is not judged: %+v", traced.Trace)
		}
		return
	}
	if d.Rule == "" && len(traced.Trace) != len(p.Rules) {
		t.Fatalf("%d of %d rules tried, and none decided", len(traced.Trace), len(p.Rules))
	}
	for i, step := range traced.Trace {
		if step.Rule != p.Rules[i].Name || step.Position != p.Rules[i].Position || step.Why == "" {
			t.Fatalf("step %d: %+v", i, step)
		}
		lets := step.Action == facts.ActionAllow || step.Action == facts.ActionSet
		var q query
		q.ask(m)
		host := p.Rules[i].Asks("host.propagation") && unknownHost(&q) != ""
		decides := step.Action != facts.ActionAudit && !step.Audit && (step.Matched == facts.Yes || step.Matched == facts.Unknown && !lets && !host)
		last := i == len(traced.Trace)-1
		if decides != (last && d.Rule != "") {
			t.Fatalf("step %d of %d decides %v; decision %+v, trace %+v", i, len(traced.Trace), decides, d, traced.Trace)
		}
		if last && d.Rule != "" && (d.Rule != step.Rule || d.Action != step.Action || d.Position != step.Position) {
			t.Fatalf("the trace ends at %+v, rule %q decided", step, d.Rule)
		}
	}
}

// FuzzDecide asks several policies about made-up containers: every question
// has one answer, and a rule below the deciding one has no part in it.
func FuzzDecide(f *testing.F) {
	every, err := os.ReadFile("testdata/good/every-key.toml")
	if err != nil {
		f.Fatal(err)
	}
	const below = "\n[[rule]]\nname = \"below\"\nmatch = {}\naction = \"deny\"\n"
	type pair struct{ plain, longer *Policy }
	var policies []pair
	for _, text := range []string{
		string(config.Policy()),
		string(every),
		head + "[[rule]]\nname = \"a\"\nmatch.source = [\"/data/**\", \"/*/lib/**\"]\nexcept.source = [\"/data/x\"]\naction = \"deny\"\n",
		head + "[[rule]]\nname = \"a\"\nmatch.hazard = [\"MW101\"]\nexcept.hazard = [\"MW102\"]\naction = \"deny\"\n",
		head + "[[rule]]\nname = \"a\"\nmatch.source = [\"/data/**\", \"${runtime_root}\"]\nexcept.privileged = true\naction = \"allow\"\n",
	} {
		policies = append(policies, pair{parse(f, text), parse(f, text+below)})
	}
	f.Add([]byte("\x00\x01\x01\x00\x01\x00\x02\x00\x00\x01\x00\x04\x01\x02\x00\x01\x02\x00\x01\x01\x00\x01\x02"))
	f.Add(bytes.Repeat([]byte{1, 3, 2, 4}, 40))
	f.Fuzz(func(t *testing.T, data []byte) {
		m := &maker{data}
		c := m.container()
		for _, p := range policies {
			env := m.env(p.plain)
			got, longer := check(t, p.plain, c, env), check(t, p.longer, c, env)
			for i, d := range got {
				if d.Judged && d.Rule == "" {
					if longer[i].Rule != "below" {
						t.Fatalf("no rule decided, but neither does one that matches everything: %+v", longer[i])
					}
					continue
				}
				if diff := cmp.Diff(d, longer[i]); diff != "" {
					t.Fatalf("a rule below the deciding one changed the decision: %s", diff)
				}
			}
		}
	})
}

// FuzzParse reads made-up policies: one that is accepted decides without a
// panic, one that is not says where it is wrong.
func FuzzParse(f *testing.F) {
	for _, dir := range []string{"testdata/good", "testdata/bad"} {
		files, err := os.ReadDir(dir)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(dir + "/" + file.Name())
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data, []byte("\x00\x01\x01\x00\x01\x00\x02\x00\x00\x04\x01\x02\x00\x01"))
		}
	}
	f.Fuzz(func(t *testing.T, text, data []byte) {
		p, err := Parse(File{"p.toml", text})
		if err != nil {
			var list strict.Errors
			if !errors.As(err, &list) || len(list) == 0 || list[0].Line < 1 || list[0].Column < 1 {
				t.Fatalf("error %v without a place", err)
			}
			return
		}
		m := &maker{data}
		c := m.container()
		check(t, p, c, m.env(p))
	})
}
