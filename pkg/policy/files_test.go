package policy

import (
	"crypto/sha256"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/strict"
)

func rule(name, action string) string {
	return "[[rule]]\nname = \"" + name + "\"\nmatch = {}\naction = \"" + action + "\"\n"
}

func dropIns(texts ...string) []File {
	files := make([]File, len(texts))
	for i, text := range texts {
		files[i] = File{"policy.d/" + sprintf("%d", i+1) + ".toml", []byte(text)}
	}
	return files
}

// The rules of all files are one list, in the order of the files.
func TestDropInsAddRulesBelowTheMainFiles(t *testing.T) {
	p, err := Parse(File{"policy.toml", []byte(head + rule("a", "audit"))}, dropIns(
		rule("b", "audit")+rule("c", "deny"),
		"# nothing here\n",
		"[hazards]\nMW101 = \"deny\"\n"+rule("d", "allow"),
	)...)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range p.Rules {
		got = append(got, r.Position+" "+r.Name)
	}
	want := []string{"policy.toml:4 a", "policy.d/1.toml:1 b", "policy.d/1.toml:5 c", "policy.d/3.toml:3 d"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"policy.d/1.toml", "policy.d/2.toml", "policy.d/3.toml"}, p.DropIns); diff != "" {
		t.Error(diff)
	}
	if h := p.Hazards["MW101"]; h != (HazardRule{facts.HazardDeny, "policy.d/3.toml:2"}) {
		t.Errorf("hazard %+v", h)
	}
	d := p.Decide(facts.Container{Mounts: []facts.Mount{bind("/data", "/a")}}, Env{}, false)[0]
	if d.Rule != "c" || d.Position != "policy.d/1.toml:5" || len(d.Audited) != 2 {
		t.Errorf("decided by %+v", d)
	}
}

func TestWhatIsWrongWithDropInsIsSaidWithTheirPlaces(t *testing.T) {
	tests := map[string]struct {
		main string
		more []string
		want []string
	}{
		"keys of the main file": {head, []string{head + rule("a", "deny")}, []string{
			`policy.d/1.toml:1:1: "version" belongs to the whole policy and stands in policy.toml alone: remove it here`,
			`policy.d/1.toml:2:1: "mode" belongs to the whole policy and stands in policy.toml alone: remove it here, or write mode = "audit" in the rules that are to be tried first`,
			`policy.d/1.toml:3:1: "default" belongs to the whole policy and stands in policy.toml alone: remove it here`,
		}},
		"one name in two files": {head + rule("a", "deny"), []string{rule("b", "deny"), "\n" + rule("a", "deny") + rule("b", "allow")}, []string{
			`policy.d/2.toml:3:1: two rules have the name "a", the first is at policy.toml:5`,
			`policy.d/2.toml:7:1: two rules have the name "b", the first is at policy.d/1.toml:2`,
		}},
		"one hazard in two files": {head + "[hazards]\nMW101 = \"deny\"\n", []string{"[hazards]\nMW102 = \"deny\"\nMW101 = \"deny\"\n"}, []string{
			`policy.d/1.toml:3:1: MW101 is set at policy.toml:5 already: one file alone says what a hazard is worth`,
		}},
		"every file is looked at, in their order": {"version = 1\ndefault = \"allow\"\n", []string{"x = 1\n", "]", rule("a", "no")}, []string{
			`policy.toml:1:1: "mode" is missing: it must be "audit" or "enforce"`,
			`policy.d/1.toml:1:1: unknown key "x" (known here: default, hazards, lint_ignore, mode, rule, version)`,
			`policy.d/2.toml:1:1: no valid TOML: `,
			`policy.d/3.toml:4:1: "action" must be "allow" or "set" or "deny" or "audit", not "no"`,
		}},
		"a drop-in for a main file": {rule("a", "deny"), nil, []string{
			`policy.toml:1:1: "version" is missing: write version = 1`,
			`policy.toml:1:1: "mode" is missing: it must be "audit" or "enforce"`,
			`policy.toml:1:1: "default" is missing: it must be "allow" or "deny"`,
		}},
		"too many rules together": {head + rules(MaxRules-1), []string{rule("x", "audit") + rule("y", "audit")}, []string{
			`policy.d/1.toml:5:3: a policy has at most 10000 rules, this one has 10001`,
		}},
		"too large together": {head, []string{"# x\n", "#" + strings.Repeat("x", strict.MaxSize-len(head)-4)}, []string{
			`policy.d/2.toml:1:1: the policy's files up to this one are larger than 1 MiB together`,
		}},
		"as large as they may be": {head, []string{"# x\n", "#" + strings.Repeat("x", strict.MaxSize-len(head)-5)}, nil},
		"a rule's mode": {head, []string{rule("a", "deny") + "mode = \"enforce\"\n" + rule("b", "deny") + "mode = \"audit\"\n"}, []string{
			`policy.d/1.toml:5:1: "mode" of a rule must be "audit", not "enforce": a rule without it follows the mode of the policy, which stands above the first header`,
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p, err := Parse(File{"policy.toml", []byte(test.main)}, dropIns(test.more...)...)
			var list strict.Errors
			if err != nil && (p != nil || !errors.As(err, &list)) {
				t.Fatalf("policy %v, error %v (%[2]T)", p, err)
			}
			ok := len(list) == len(test.want)
			for i := range test.want {
				ok = ok && strings.HasPrefix(list[i].Error(), test.want[i])
			}
			if !ok {
				t.Errorf("errors:\n%v\nwant:\n%s", err, strings.Join(test.want, "\n"))
			}
		})
	}
}

// A rule in audit mode says what it would have done and decides nothing; the
// same rule in force decides.
func TestARuleInAuditModeDecidesNothing(t *testing.T) {
	const text = `
[[rule]]
name = "shadow"
reason = "soon"
match.propagation = ["shared"]
action = "deny"
mode = "audit"
[[rule]]
name = "follow"
match.propagation = ["private"]
mode = "audit"
action = "set"
propagation = "rslave"
[[rule]]
name = "known"
match.privileged = true
action = "allow"
mode = "audit"
[[rule]]
name = "noted"
match.source = ["/noted"]
action = "audit"
mode = "audit"
`
	p, none := parse(t, strings.Replace(head, "allow", "deny", 1)+text), parse(t, strings.Replace(head, "allow", "deny", 1))
	if parse(t, head+text).Denies() {
		t.Error("a policy whose only deny is in audit mode can deny")
	}
	shadow := func(name, position, reason string, action facts.Action, p facts.Propagation) facts.Shadow {
		return facts.Shadow{Rule: name, Position: position, Reason: reason, Action: action, Propagation: p}
	}
	tests := map[string]struct {
		mount      facts.Mount
		privileged facts.Answer
		want       []facts.Shadow
		audited    int
	}{
		"denied":        {bind("/x", "/a", "rshared"), facts.Is(false, ""), []facts.Shadow{shadow("shadow", "p.toml:5", "soon", "deny", facts.Unset)}, 0},
		"set":           {bind("/x", "/a", "rprivate"), facts.Is(false, ""), []facts.Shadow{shadow("follow", "p.toml:11", "", "set", facts.Slave)}, 0},
		"two":           {bind("/x", "/a", "rprivate"), facts.Is(true, ""), []facts.Shadow{shadow("follow", "p.toml:11", "", "set", facts.Slave), shadow("known", "p.toml:17", "", "allow", facts.Unset)}, 0},
		"cannot tell":   {bind("/x", "/a"), facts.CannotTell("no bundle"), nil, 0},
		"another mount": {bind("/x", "/a", "rslave"), facts.Is(false, ""), nil, 0},
		"that audits":   {bind("/noted", "/a", "rslave"), facts.Is(false, ""), nil, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := facts.Container{Privileged: test.privileged, Mounts: []facts.Mount{test.mount}}
			got := p.Decide(c, Env{}, false)[0]
			if diff := cmp.Diff(test.want, got.Shadow); diff != "" {
				t.Error(diff)
			}
			if len(got.Audited) != test.audited {
				t.Errorf("audited %v", got.Audited)
			}
			got.Shadow, got.Audited = nil, nil
			if diff := cmp.Diff(none.Decide(c, Env{}, false)[0], got); diff != "" {
				t.Errorf("it changed the decision: %s", diff)
			}
		})
	}
	last := p.Decide(facts.Container{Mounts: []facts.Mount{bind("/x", "/a", "rshared")}}, Env{}, true)[0].Trace[0]
	if !last.Audit || last.Matched != facts.Yes {
		t.Errorf("trace %+v", last)
	}
}

// The checksum over several files is what anybody can compute on the node: that
// of sha256sum's list. The script check-files compares it with the real one.
func TestTheChecksumIsThatOfAList(t *testing.T) {
	main := File{"/etc/mountward/policy.toml", []byte(head)}
	more := []File{{"/etc/mountward/policy.d/10-a b.toml", []byte(rule("a", "deny"))}, {"/etc/mountward/policy.d/9.toml", []byte("# x")}}
	if got, want := Sum(main), sprintf("%x", sha256.Sum256(main.Data)); got != want {
		t.Errorf("one file: %s, want %s", got, want)
	}
	list := sprintf("%x  policy.toml\n%x  policy.d/10-a b.toml\n%x  policy.d/9.toml\n",
		sha256.Sum256(main.Data), sha256.Sum256(more[0].Data), sha256.Sum256(more[1].Data))
	want := sprintf("%x", sha256.Sum256([]byte(list)))
	if got := Sum(main, more...); got != want {
		t.Errorf("three files: %s, want %s", got, want)
	}
	if p, err := Parse(main, more...); err != nil || p.SHA256 != want {
		t.Errorf("policy %v, %v", p, err)
	}
	if Sum(File{"/mnt/policy.toml", main.Data}, File{"/mnt/policy.d/10-a b.toml", more[0].Data}, File{"/mnt/policy.d/9.toml", more[1].Data}) != want {
		t.Error("the same files elsewhere have another checksum")
	}
	for name, other := range map[string][]File{
		"another order":     {more[1], more[0]},
		"one less":          {more[0]},
		"another text":      {more[0], {more[1].Name, []byte("# y")}},
		"a text moved over": {{more[0].Name, append(append([]byte(nil), more[0].Data...), '#')}, {more[1].Name, []byte(" x")}},
	} {
		if Sum(main, other...) == want {
			t.Errorf("%s has the same checksum", name)
		}
	}
}

// FuzzParseFiles: several files are accepted where and only where the first is a
// policy by itself and each other one is when the head of the first is above it,
// unless they contradict each other; and a drop-in changes no rule above it.
func FuzzParseFiles(f *testing.F) {
	f.Add([]byte(head), []byte(rule("a", "deny")), []byte(rule("b", "audit")))
	f.Add([]byte(head+rule("a", "deny")), []byte(rule("a", "deny")), []byte("[hazards]\nMW101 = \"deny\"\n"))
	f.Add([]byte(head), []byte("mode = \"audit\"\n"), []byte("x"))
	f.Fuzz(func(t *testing.T, main, first, second []byte) {
		more := dropIns(string(first), string(second))
		all, err := Parse(File{"policy.toml", main}, more...)
		alone, aloneErr := Parse(File{"policy.toml", main})
		if err != nil {
			var list strict.Errors
			if !errors.As(err, &list) || len(list) == 0 || list[0].Line < 1 || list[0].File == "" {
				t.Fatalf("error %v without a place", err)
			}
			return
		}
		if aloneErr != nil {
			t.Fatalf("accepted with drop-ins and not without: %v", aloneErr)
		}
		rules := len(alone.Rules)
		for _, d := range more {
			one, err := Parse(File{d.Name, append([]byte(head), d.Data...)})
			if err != nil {
				t.Fatalf("accepted as a drop-in and not below a head: %v", err)
			}
			rules += len(one.Rules)
		}
		if all.Mode != alone.Mode || all.Default != alone.Default || len(all.Rules) != rules {
			t.Fatalf("%d rules, want %d; mode %s, default %s", len(all.Rules), rules, all.Mode, all.Default)
		}
		for i, r := range alone.Rules {
			if all.Rules[i].Name != r.Name || all.Rules[i].Position != r.Position {
				t.Fatalf("rule %d is %s, want %s", i, all.Rules[i].Name, r.Name)
			}
		}
	})
}
