package audit

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
)

func inside(action facts.HazardAction) facts.Hazard {
	return facts.Hazard{
		Code: facts.HazardInsideShared, Stage: facts.StageAsked, Message: "lands inside the rshared mount /run",
		Destinations: []string{"/run/x", "/run"}, Action: action,
	}
}

func TestHazardReadsAlone(t *testing.T) {
	t.Parallel()
	c := testContainer()
	submounts := facts.Hazard{Code: facts.HazardROSubmounts, Message: "is read-only", Destinations: []string{"/host"}, Action: facts.HazardWarn}
	doubt := inside(facts.HazardDeny)
	doubt.Doubt = "the image has the customary link /var/run -> /run"
	hostile := facts.Hazard{Code: facts.HazardUnclean, Message: "is no clean absolute path", Destinations: []string{"/a\nPRIORITY=0 \xff"}, Action: facts.HazardWarn}
	decided := inside(facts.HazardWarn)
	decided.Stage = facts.StageDecided
	audit, enforce := Policy{Mode: "audit"}, Policy{Mode: "enforce"}
	what := "MW101: mount /run/x of " + c.String() + " lands inside the rshared mount /run"
	tests := []struct {
		name  string
		event Hazard
		want  string
	}{
		{"warned of", Hazard{Container: c, Hazards: []facts.Hazard{inside(facts.HazardWarn)}}, what},
		{"refused", Hazard{Container: c, Policy: enforce, Refused: true, Hazards: []facts.Hazard{submounts, inside(facts.HazardDeny)}}, "refused, " + what + "; 1 more hazard: see MOUNTWARD_HAZARD_TEXT"},
		{"refused for something else", Hazard{Container: c, Policy: enforce, Refused: true, Hazards: []facts.Hazard{inside(facts.HazardWarn)}}, what},
		{"audit mode", Hazard{Container: c, Policy: audit, Denied: true, Hazards: []facts.Hazard{doubt}}, "would refuse, " + what + ", if the image has the customary link /var/run -> /run"},
		{"a change that audit mode does not make", Hazard{Container: c, Policy: audit, Hazards: []facts.Hazard{decided}}, what + " (by what would be decided in the mode enforce)"},
		{"the same in enforce mode", Hazard{Container: c, Policy: enforce, Hazards: []facts.Hazard{decided}}, what},
		{"static pod", Hazard{Container: c, Policy: enforce, Denied: true, Hazards: []facts.Hazard{inside(facts.HazardDeny)}}, "not refused, as a static pod never is, " + what},
		{"denied, but the policy cures it", Hazard{Container: c, Policy: audit, Hazards: []facts.Hazard{inside(facts.HazardDeny)}}, what},
		{"repeated", Hazard{Container: c, Hazards: []facts.Hazard{inside(facts.HazardWarn), submounts, submounts}, Repeated: 7}, what + "; 2 more hazards: see MOUNTWARD_HAZARD_TEXT (repeated 7 times)"},
		{"a hostile name", Hazard{Container: c, Hazards: []facts.Hazard{hostile}}, `MW108: mount "/a\nPRIORITY=0 \xff" of ` + c.String() + " is no clean absolute path"},
	}
	for _, test := range tests {
		r := new(layouts).newRecord(test.event, noon())
		if r.message != test.want || r.priority != prioWarning {
			t.Errorf("%s: %q (%s), want %q", test.name, r.message, r.priority, test.want)
		}
	}
}

func TestHazardFieldsAndRecord(t *testing.T) {
	t.Parallel()
	event := Hazard{Container: testContainer(), Policy: testPolicy(), Hazards: []facts.Hazard{inside(facts.HazardWarn), inside(facts.HazardWarn)}}
	event.Hazards[1].Code, event.Hazards[1].Stage = facts.HazardSharedTwice, facts.StageMounted
	r := new(layouts).newRecord(event, noon())
	var hazards, texts []string
	for _, f := range r.fields {
		switch f.Name {
		case "MOUNTWARD_HAZARD":
			hazards = append(hazards, string(f.Value))
		case "MOUNTWARD_HAZARD_TEXT":
			texts = append(texts, string(f.Value))
		}
	}
	if diff := cmp.Diff([]string{"MW101", "MW102"}, hazards); diff != "" {
		t.Errorf("codes (-want +got):\n%s", diff)
	}
	if len(texts) != 2 || texts[0] != "MW101: mount /run/x lands inside the rshared mount /run" {
		t.Errorf("texts %q", texts)
	}
	var got struct {
		Schema  string         `json:"schema"`
		Refused *bool          `json:"refused"`
		Hazards []facts.Hazard `json:"hazards"`
	}
	if err := json.Unmarshal(r.line, &got); err != nil {
		t.Fatal(err)
	}
	if got.Schema != "mountward.hazard/v1" || got.Refused == nil {
		t.Errorf("record %s", r.line)
	}
	if diff := cmp.Diff(event.Hazards, got.Hazards); diff != "" {
		t.Errorf("hazards (-want +got):\n%s", diff)
	}
}

// TestHazardsOfALoopingPodAreHeldBack: the same hazards are one record, other
// hazards or another policy another, and a decision is never taken for one.
func TestHazardsOfALoopingPodAreHeldBack(t *testing.T) {
	t.Parallel()
	base := Hazard{Container: testContainer(), Policy: testPolicy(), Hazards: []facts.Hazard{inside(facts.HazardWarn)}}
	change := func(how func(*Hazard)) Hazard {
		h := base
		h.Hazards = append([]facts.Hazard(nil), base.Hazards...)
		how(&h)
		return h
	}
	r := NewRepeats(10, time.Minute)
	see := func(h Hazard) bool { _, ok := r.See(KeyOfHazard(h), noon()); return ok }
	if !see(base) || see(change(func(h *Hazard) { h.Container.ID, h.Hazards[0].Message = "other", "lands elsewhere" })) {
		t.Error("the same hazards of another try are not held back")
	}
	for name, h := range map[string]Hazard{
		"code":         change(func(h *Hazard) { h.Hazards[0].Code = facts.HazardShadowed }),
		"stage":        change(func(h *Hazard) { h.Hazards[0].Stage = facts.StageMounted }),
		"action":       change(func(h *Hazard) { h.Hazards[0].Action = facts.HazardDeny }),
		"destinations": change(func(h *Hazard) { h.Hazards[0].Destinations = []string{"/run/x/run"} }),
		"refused":      change(func(h *Hazard) { h.Refused = true }),
		"policy":       change(func(h *Hazard) { h.Policy.SHA256 = "1" }),
		"pod":          change(func(h *Hazard) { h.Container.Pod.UID = "1" }),
	} {
		if !see(h) {
			t.Errorf("another %s is held back", name)
		}
	}
	if _, ok := r.See(KeyOf(Decision{Container: base.Container, Policy: base.Policy}), noon()); !ok {
		t.Error("a decision is held back as a hazard")
	}
}

func TestHugeHazardRecordsAreBounded(t *testing.T) {
	t.Parallel()
	event := Hazard{Container: testContainer()}
	for i := range 500 {
		h := inside(facts.HazardWarn)
		h.Destinations = []string{"/" + strings.Repeat("x", 4000) + string(rune('a'+i%26)) + strings.Repeat("y", i)}
		event.Hazards = append(event.Hazards, h)
	}
	r := new(layouts).newRecord(event, noon())
	if len(r.message) > maxMessage || len(r.fields) > 2*maxRepeats+30 {
		t.Errorf("message of %d bytes, %d fields", len(r.message), len(r.fields))
	}
}
