package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
)

func hazard(code facts.HazardCode, doubt string, destinations ...string) facts.Hazard {
	return facts.Hazard{Code: code, Stage: facts.StageAsked, Message: "m", Doubt: doubt, Destinations: destinations}
}

// TestJudge: what the table does not name is warned of, what it ignores is gone.
func TestJudge(t *testing.T) {
	p := parse(t, head+"[hazards]\nMW101 = \"deny\"\nMW105 = \"ignore\"\nMW106 = \"warn\"\n")
	got := p.Judge([]facts.Hazard{hazard("MW101", "", "/a"), hazard("MW105", "", "/b"), hazard("MW106", "", "/c"), hazard("MW107", "", "/d")})
	type row struct {
		Code     facts.HazardCode
		Action   facts.HazardAction
		Position string
	}
	var rows []row
	for _, h := range got {
		rows = append(rows, row{h.Code, h.Action, h.Position})
	}
	want := []row{{"MW101", "deny", "p.toml:5"}, {"MW106", "warn", "p.toml:7"}, {"MW107", "warn", ""}}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("judged (-want +got):\n%s", diff)
	}
	if got := parse(t, head).Judge([]facts.Hazard{hazard("MW101", "", "/a")}); len(got) != 1 || got[0].Action != facts.HazardWarn {
		t.Errorf("without a table: %+v", got)
	}
	if got := (&Policy{}).Judge(nil); got != nil {
		t.Errorf("no hazard: %+v", got)
	}
}

// TestMatchHazard: a mount matches where a hazard of the list names it, sure or
// not; in doubt the answer is never in the pod's favour.
func TestMatchHazard(t *testing.T) {
	const deny = head + "[[rule]]\nname = \"r\"\nmatch.hazard = [\"MW101\", \"MW107\"]\naction = \"deny\"\n"
	const set = head + "[[rule]]\nname = \"r\"\nmatch.hazard = [\"MW101\"]\naction = \"set\"\npropagation = \"rprivate\"\n"
	const except = head + "[[rule]]\nname = \"r\"\nmatch = {}\nexcept.hazard = [\"MW101\"]\naction = \"allow\"\n[[rule]]\nname = \"rest\"\nmatch = {}\naction = \"deny\"\n"
	tests := []struct {
		name, policy string
		hazards      []facts.Hazard
		want         string // rule of the mount /a
	}{
		{"named first", deny, []facts.Hazard{hazard("MW101", "", "/a", "/b")}, "r"},
		{"named second", deny, []facts.Hazard{hazard("MW101", "", "/b", "/a")}, "r"},
		{"the other code of the list", deny, []facts.Hazard{hazard("MW105", "", "/a"), hazard("MW107", "", "/a", "/a")}, "r"},
		{"another code", deny, []facts.Hazard{hazard("MW105", "", "/a")}, ""},
		{"another mount", deny, []facts.Hazard{hazard("MW101", "", "/b", "/a/")}, ""},
		{"no hazard", deny, nil, ""},
		{"in doubt, deny matches", deny, []facts.Hazard{hazard("MW101", "a link", "/a")}, "r"},
		{"sure, set matches", set, []facts.Hazard{hazard("MW101", "", "/a")}, "r"},
		{"in doubt, set does not match", set, []facts.Hazard{hazard("MW101", "a link", "/a")}, ""},
		{"in doubt and sure, set matches", set, []facts.Hazard{hazard("MW101", "a link", "/a", "/c"), hazard("MW101", "", "/a", "/b")}, "r"},
		{"excepted", except, []facts.Hazard{hazard("MW101", "", "/a")}, "rest"},
		{"not excepted", except, []facts.Hazard{hazard("MW105", "", "/a")}, "r"},
		{"in doubt, excepted from allow", except, []facts.Hazard{hazard("MW101", "a link", "/a")}, "rest"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := parse(t, test.policy)
			if !p.AsksHazards() {
				t.Error("AsksHazards is false")
			}
			c := facts.Container{Mounts: []facts.Mount{bind("/srv", "/a", "rprivate")}, Hazards: test.hazards}
			d := p.Decide(c, Env{}, true)[0]
			if d.Rule != test.want {
				t.Errorf("rule %q, want %q; trace %+v", d.Rule, test.want, d.Trace)
			}
		})
	}
	if parse(t, head).AsksHazards() {
		t.Error("AsksHazards of a policy without rules")
	}
}

// TestMatchHazardIgnoresTheTable: a rule that names a hazard means it.
func TestMatchHazardIgnoresTheTable(t *testing.T) {
	p := parse(t, head+"[hazards]\nMW101 = \"ignore\"\n[[rule]]\nname = \"r\"\nmatch.hazard = [\"MW101\"]\naction = \"deny\"\n")
	c := facts.Container{Mounts: []facts.Mount{bind("/srv", "/a")}, Hazards: []facts.Hazard{hazard("MW101", "", "/a")}}
	if d := p.Decide(c, Env{}, false)[0]; d.Rule != "r" {
		t.Errorf("rule %q", d.Rule)
	}
}

func TestTraceTellsWhichHazardsAMountHas(t *testing.T) {
	p := parse(t, head+"[[rule]]\nname = \"r\"\nmatch.hazard = [\"MW102\"]\naction = \"deny\"\n")
	tests := map[string][]facts.Hazard{
		`it has no hazard, wants "MW102"`:                    nil,
		`it has MW101, MW107 if a link leads, wants "MW102"`: {hazard("MW101", "", "/a"), hazard("MW107", "a link leads", "/a", "/a")},
	}
	for want, hazards := range tests {
		c := facts.Container{Mounts: []facts.Mount{bind("/srv", "/a")}, Hazards: hazards}
		if got := p.Decide(c, Env{}, true)[0].Trace[0].Why; got != want {
			t.Errorf("why %q, want %q", got, want)
		}
	}
}
