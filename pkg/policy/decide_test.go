package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
)

var sprintf = fmt.Sprintf

func bind(source, destination string, options ...string) facts.Mount {
	return facts.Mount{Source: source, Destination: destination, Type: "bind", Options: append([]string{"rbind"}, options...)}
}

func decideOne(t testing.TB, text string, env Env, m facts.Mount) Decision {
	t.Helper()
	return parse(t, text).Decide(facts.Container{Mounts: []facts.Mount{m}}, env, false)[0]
}

func TestTheFirstDecidingRuleWins(t *testing.T) {
	p := parse(t, head+`
[[rule]]
name = "watch"
reason = "seen"
match.source = ["/data/**"]
action = "audit"
[[rule]]
name = "keep"
reason = "ours"
match.source = ["/data/keep"]
action = "allow"
[[rule]]
name = "follow"
reason = "new volumes"
match.source = ["/data/**"]
match.propagation = ["private"]
action = "set"
propagation = "rslave"
on_unmet = "deny"
[[rule]]
name = "refuse"
match.propagation = ["shared"]
action = "deny"
[[rule]]
name = "never reached by /data"
match = {}
except.source = ["/other"]
action = "audit"
`)
	watched := []Audited{{Rule: "watch", Position: "p.toml:5", Reason: "seen"}}
	tests := map[string]struct {
		mount facts.Mount
		want  Decision
	}{
		"allowed": {
			bind("/data/keep", "/a", "rshared"),
			Decision{Judged: true, Action: "allow", Rule: "keep", Position: "p.toml:10", Reason: "ours", Audited: watched, BySource: true},
		},
		"set": {
			bind("/data/x", "/a", "rprivate"),
			Decision{
				Judged: true, Action: "set", Propagation: facts.Slave, OnUnmet: OnUnmetDeny,
				Rule: "follow", Position: "p.toml:15", Reason: "new volumes", Audited: watched, BySource: true,
			},
		},
		"denied, and plain shared is shared": {
			bind("/data/x", "/a", "shared"),
			Decision{Judged: true, Action: "deny", Rule: "refuse", Position: "p.toml:23", Audited: watched},
		},
		"the default, after an audit": {
			bind("/x", "/a", "rslave"),
			Decision{Judged: true, Action: "allow", Position: "p.toml:3", Audited: []Audited{{Rule: "never reached by /data", Position: "p.toml:27"}}},
		},
		"the default": {
			bind("/other", "/a"),
			Decision{Judged: true, Action: "allow", Position: "p.toml:3"},
		},
		"not a bind": {
			facts.Mount{Source: "/data/x", Destination: "/a", Type: "tmpfs", Options: []string{"rshared"}},
			Decision{Action: "allow"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := p.Decide(facts.Container{Mounts: []facts.Mount{test.mount}}, Env{}, false)
			if diff := cmp.Diff([]Decision{test.want}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSelectors(t *testing.T) {
	container := facts.Container{
		Name: "fluent-bit", Role: facts.RoleCSINode,
		Pod: facts.Pod{
			Namespace: "logging", Name: "fluent-bit-x2x", Labels: map[string]string{"app": "fluent-bit", "a.b/c": "", "odd": "a/b"},
			Annotations: map[string]string{facts.AnnotationConfigSource: "file"},
		},
		Privileged: facts.Is(true, "sysfs is rw"),
		Mounts:     []facts.Mount{bind("/var/log/", "/logs/../log/", "rslave")},
	}
	tests := []struct {
		match    string
		want     bool
		excepted bool // one key of several is enough for an except
	}{
		{`{}`, true, true},
		{`{ namespace = ["logging"] }`, true, true},
		{`{ namespace = ["kube-system", "log*"] }`, true, true},
		{`{ namespace = ["kube-system"] }`, false, false},
		{`{ pod = ["fluent-bit-*"] }`, true, true},
		{`{ pod = ["fluent-bit"] }`, false, false},
		{`{ container = ["{fluent-bit,vector}"] }`, true, true},
		{`{ container = ["vector"] }`, false, false},
		{`{ pod_labels = { app = "fluent*" } }`, true, true},
		{`{ pod_labels = { app = ["x", "fluent-bit"] } }`, true, true},
		{`{ pod_labels = { app = ["x", "y"] } }`, false, false},
		{`{ pod_labels = { app = "*", missing = "*" } }`, false, false},
		{`{ pod_labels = { missing = "*" } }`, false, false},
		{`{ pod_labels = { "a.b/c" = "" } }`, true, true},
		{`{ pod_labels = { odd = "*" } }`, true, true},
		{`{ source = ["/var/log"] }`, true, true},
		{`{ source = ["/etc", "/var/**"] }`, true, true},
		{`{ source = ["/etc", "/var/*/x"] }`, false, false},
		{`{ destination = ["/log"] }`, true, true},
		{`{ destination = ["/logs/**"] }`, false, false},
		{`{ propagation = ["private", "slave"] }`, true, true},
		{`{ propagation = ["private", "shared", "unset"] }`, false, false},
		{`{ privileged = true }`, true, true},
		{`{ privileged = false }`, false, false},
		{`{ static_pod = true }`, true, true},
		{`{ static_pod = false }`, false, false},
		{`{ role = ["csi-node"] }`, true, true},
		{`{ namespace = ["logging"], container = ["vector"] }`, false, true},
		{`{ namespace = ["logging"], container = ["fluent-bit"], privileged = true }`, true, true},
	}
	for _, action := range []string{"allow", "deny", "audit"} {
		for _, test := range tests {
			p := parse(t, head+"[[rule]]\nname = \"a\"\nmatch = "+test.match+"\naction = \""+action+"\"\n")
			d := p.Decide(container, Env{}, false)[0]
			if got := d.Rule == "a" || len(d.Audited) == 1; got != test.want || len(d.Unknown) > 0 {
				t.Errorf("%s %s: matches %v, want %v (unknown: %q)", action, test.match, got, test.want, d.Unknown)
			}
			if test.match == "{}" {
				continue
			}
			p = parse(t, head+"[[rule]]\nname = \"a\"\nmatch = {}\nexcept = "+test.match+"\naction = \""+action+"\"\n")
			d = p.Decide(container, Env{}, false)[0]
			if got := d.Rule == "a" || len(d.Audited) == 1; got == test.excepted {
				t.Errorf("%s except %s: matches %v, want %v", action, test.match, got, !test.excepted)
			}
		}
	}
}

func TestSelectorsOfAnOrdinaryContainer(t *testing.T) {
	c := facts.Container{Privileged: facts.Is(false, "sysfs is ro"), Mounts: []facts.Mount{bind("/a", "/a")}}
	for match, want := range map[string]bool{
		`{ privileged = true }`:        false,
		`{ privileged = false }`:       true,
		`{ static_pod = true }`:        false,
		`{ static_pod = false }`:       true,
		`{ role = ["csi-node"] }`:      false,
		`{ namespace = ["*"] }`:        true,
		`{ namespace = ["?*"] }`:       false,
		`{ pod_labels = { app = "" }}`: false,
	} {
		d := parse(t, head+"[[rule]]\nname = \"a\"\nmatch = "+match+"\naction = \"deny\"\n").Decide(c, Env{}, false)[0]
		if got := d.Rule == "a"; got != want || len(d.Unknown) > 0 {
			t.Errorf("%s: matches %v, want %v (unknown: %q)", match, got, want, d.Unknown)
		}
	}
}

func TestWhatAMountAsksForIsOneKind(t *testing.T) {
	tests := []struct {
		options []string
		want    string
	}{
		{nil, "unset"},
		{[]string{"rprivate"}, "private"},
		{[]string{"private"}, "private"},
		{[]string{"rslave"}, "slave"},
		{[]string{"slave"}, "slave"},
		{[]string{"rshared"}, "shared"},
		{[]string{"shared"}, "shared"},
		{[]string{"rprivate", "rslave"}, "private"},
		{[]string{"runbindable"}, ""},
	}
	for _, test := range tests {
		for _, kind := range []string{"private", "slave", "shared", "unset"} {
			d := decideOne(t, head+"[[rule]]\nname = \"a\"\nmatch.propagation = [\""+kind+"\"]\naction = \"deny\"\n", Env{}, bind("/a", "/a", test.options...))
			if (d.Rule == "a") != (kind == test.want) {
				t.Errorf("%v as %q: rule %q", test.options, kind, d.Rule)
			}
		}
	}
}

func TestUnknownFactsAreNeverInThePodsFavour(t *testing.T) {
	const (
		unknown   = `privileged = true`    // cannot be told
		holds     = `container = ["c"]`    // known to hold
		fails     = `container = ["else"]` // known to fail
		doubt     = `privileged of rule "a": it is unknown (no bundle yet), wants true; taken as `
		notedNo   = doubt + "not matched"
		notedYes  = doubt + "matched"
		exceptNo  = "except." + notedNo
		exceptYes = "except." + notedYes
	)
	tests := []struct {
		match, except       string
		pod                 bool // allow and set match
		guard               bool // deny and audit match
		podNoted, guardNote string
	}{
		{unknown, "", false, true, notedNo, notedYes},
		{unknown + ", " + holds, "", false, true, notedNo, notedYes},
		{unknown + ", " + fails, "", false, false, "", ""},
		{"", unknown, false, true, exceptNo, exceptYes},
		{holds, unknown + ", " + holds, false, false, "", ""},
		{holds, unknown + ", " + fails, false, true, exceptNo, exceptYes},
		{holds, `namespace = ["else"], ` + holds, false, false, "", ""},
		{fails, unknown, false, false, "", ""},
		{unknown, holds, false, false, "", ""},
		{unknown, fails, false, true, notedNo, notedYes},
		{unknown, unknown, false, true, notedNo, notedYes},
		{holds, "", true, true, "", ""},
	}
	c := facts.Container{Name: "c", Privileged: facts.CannotTell("no bundle yet"), Mounts: []facts.Mount{bind("/a", "/a")}}
	for _, test := range tests {
		for _, action := range []string{"allow", "set", "deny", "audit"} {
			text := head + "[[rule]]\nname = \"a\"\nmatch = {" + test.match + "}\naction = \"" + action + "\"\n"
			if action == "set" {
				text += "propagation = \"rslave\"\n"
			}
			if test.except != "" {
				text += "except = {" + test.except + "}\n"
			}
			want, note := test.pod, test.podNoted
			if action == "deny" || action == "audit" {
				want, note = test.guard, test.guardNote
			}
			d := parse(t, text).Decide(c, Env{}, false)[0]
			noted := strings.Join(d.Unknown, "\n")
			if len(d.Audited) == 1 { // a rule that audits decides nothing, and leaves no doubt about the decision
				noted += d.Audited[0].Unknown
			}
			if got := d.Rule == "a" || len(d.Audited) == 1; got != want || noted != note || action == "audit" && len(d.Unknown) > 0 {
				t.Errorf("%s {%s} except {%s}: matches %v, want %v; unknown %q, noted %q, want %q",
					action, test.match, test.except, got, want, d.Unknown, noted, note)
			}
		}
	}
}

// TestExceptOfSeveralLabels: the keys of except are alternatives, the labels of
// its pod_labels are not.
func TestExceptOfSeveralLabels(t *testing.T) {
	p := parse(t, head+"[[rule]]\nname = \"a\"\nmatch = {}\nexcept.pod_labels = { app = \"x\", team = \"y\" }\naction = \"deny\"\n")
	for _, test := range []struct {
		labels map[string]string
		want   facts.Action
	}{
		{map[string]string{"app": "x", "team": "y"}, facts.ActionAllow},
		{map[string]string{"app": "x", "team": "z"}, facts.ActionDeny},
		{map[string]string{"app": "x"}, facts.ActionDeny},
	} {
		c := facts.Container{Pod: facts.Pod{Labels: test.labels}, Mounts: []facts.Mount{bind("/a", "/a")}}
		if got := p.Decide(c, Env{}, false)[0].Action; got != test.want {
			t.Errorf("labels %v: %s, want %s", test.labels, got, test.want)
		}
	}
}

func TestTraceTellsWhyEachRuleMatchedOrNot(t *testing.T) {
	p := parse(t, head+`[[rule]]
name = "labels"
match.pod_labels = { app = "csi", tier = "x" }
action = "allow"
[[rule]]
name = "privilege"
match.privileged = true
action = "allow"
[[rule]]
name = "variable"
match.source = ["${runtime_root}/**", "/data"]
action = "allow"
[[rule]]
name = "exception"
match.propagation = ["shared"]
except.destination = ["/in"]
action = "deny"
[[rule]]
name = "kind"
match.propagation = ["slave"]
action = "deny"
[[rule]]
name = "match before except"
match.propagation = ["slave"]
except.destination = ["/in"]
action = "deny"
[[rule]]
name = "all"
match = {}
action = "deny"
[[rule]]
name = "not tried"
match = {}
action = "deny"
`)
	m := bind("/var/run/x", "/in", "rshared")
	m.Host = &facts.HostMount{Canonical: "/run/x"}
	c := facts.Container{Pod: facts.Pod{Labels: map[string]string{"app": "exporter"}}, Privileged: facts.CannotTell("no bundle yet"), Mounts: []facts.Mount{m}}
	want := []Step{
		{"labels", "p.toml:4", "allow", facts.No, `pod_labels."app"`, `it is "exporter", wants "csi"`, false},
		{"privilege", "p.toml:8", "allow", facts.Unknown, "privileged", `it is unknown (no bundle yet), wants true`, false},
		{"variable", "p.toml:12", "allow", facts.Unknown, "source", `${runtime_root} is not known; it is "/var/run/x", on the host "/run/x", wants "${runtime_root}/**" or "/data"`, false},
		{"exception", "p.toml:16", "deny", facts.No, "except.destination", `excepted: it is "/in", wants "/in"`, false},
		{"kind", "p.toml:21", "deny", facts.No, "propagation", `it is "shared", wants "slave"`, false},
		{"match before except", "p.toml:25", "deny", facts.No, "propagation", `it is "shared", wants "slave"`, false},
		{"all", "p.toml:30", "deny", facts.Yes, "", "all keys of match hold", false},
	}
	traced := p.Decide(c, Env{}, true)[0]
	if diff := cmp.Diff(want, traced.Trace); diff != "" {
		t.Error(diff)
	}
	plain := p.Decide(c, Env{}, false)[0]
	if plain.Trace != nil {
		t.Error("a trace nobody asked for")
	}
	traced.Trace = nil
	if diff := cmp.Diff(plain, traced); diff != "" {
		t.Errorf("the trace changed the decision: %s", diff)
	}
}
