package apply

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
)

// TestHazards: a denied hazard of the decided list refuses its first mount, one
// that is warned of changes nothing.
func TestHazards(t *testing.T) {
	mounts := []facts.Mount{mount("/run", "/s", &shared, "rshared"), mount("/run/x", "/p", &private, "rprivate"), mount("/c", "/s", &shared, "rprivate")}
	found := func(action facts.HazardAction) func([]facts.Outcome) []facts.Hazard {
		return func([]facts.Outcome) []facts.Hazard {
			return []facts.Hazard{{
				Code: facts.HazardInsideShared, Message: "lands inside the rshared mount /run", Doubt: "the image has a link",
				Destinations: []string{"/run/x", "/run"}, Action: action, Position: "p.toml:5",
			}}
		}
	}
	tests := []struct {
		name    string
		action  facts.HazardAction
		change  func(*Request)
		refusal string
		results []facts.Result
		sent    []string
	}{
		{"denied", facts.HazardDeny, nil, `mountward: mount /run/x (rprivate/None) refused by rule "hazards.MW101" (p.toml:5): it lands inside the rshared mount /run, if the image has a link`, []facts.Result{"unchanged", "refused", "applied"}, nil},
		{"warned of", facts.HazardWarn, nil, "", []facts.Result{"unchanged", "unchanged", "applied"}, []string{"/c rbind,rslave"}},
		{"denied, audit mode", facts.HazardDeny, func(r *Request) { r.Enforce = false }, "", []facts.Result{"unchanged", "refused", "applied"}, nil},
		{"denied, a static pod", facts.HazardDeny, func(r *Request) { r.NeverRefuse = true }, "", []facts.Result{"unchanged", "unchanged", "applied"}, []string{"/c rbind,rslave"}},
		{"denied, but a rule refuses that mount already", facts.HazardDeny, func(r *Request) { r.Decisions[1] = deny }, `refused by rule "d"`, []facts.Result{"unchanged", "refused", "applied"}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := request(mounts, allow, allow, set(facts.Slave))
			r.Hazards = found(test.action)
			if test.change != nil {
				test.change(&r)
			}
			plan := Spec(r)
			got := ""
			if plan.Refusal != nil {
				got = plan.Refusal.Error()
			}
			if !strings.Contains(got, test.refusal) || test.refusal == "" && got != "" {
				t.Errorf("refusal %q, want %q", got, test.refusal)
			}
			var results []facts.Result
			for _, o := range plan.Outcomes {
				results = append(results, o.Result)
				if o.Would != (!r.Enforce && o.Result != facts.Unchanged) {
					t.Errorf("%s: would %t", o.Mount.Destination, o.Would)
				}
			}
			if diff := cmp.Diff(test.results, results); diff != "" {
				t.Errorf("results (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.sent, sent(plan)); diff != "" {
				t.Errorf("sent (-want +got):\n%s", diff)
			}
			if len(plan.Hazards) != 1 {
				t.Errorf("hazards %+v", plan.Hazards)
			}
		})
	}
}

// TestHazardsSeeTheDecidedList, whatever gave a mount its propagation.
func TestHazardsSeeTheDecidedList(t *testing.T) {
	r := request([]facts.Mount{mount("/a", "/s", &shared, "rshared"), mount("/b", "/s", &shared), mount("/c", "/s", &shared, "rprivate")}, set(facts.Private), allow, set(facts.Slave))
	var seen []string
	r.Hazards = func(outcomes []facts.Outcome) []facts.Hazard {
		for _, o := range outcomes {
			seen = append(seen, o.Decided.String())
		}
		return nil
	}
	Spec(r)
	if diff := cmp.Diff([]string{"private", "slave", "slave"}, seen); diff != "" {
		t.Errorf("decided (-want +got):\n%s", diff)
	}
}

// TestARefusedChangeIsNoChange: the proof must not look for it.
func TestARefusedChangeIsNoChange(t *testing.T) {
	r := request([]facts.Mount{mount("/c", "/s", &shared, "rprivate")}, set(facts.Slave))
	r.Enforce = false
	r.Hazards = func([]facts.Outcome) []facts.Hazard {
		return []facts.Hazard{{Code: facts.HazardPinForBusy, Destinations: []string{"/c"}, Action: facts.HazardDeny}}
	}
	o := Spec(r).Outcomes[0]
	if o.Decided != facts.Private || o.Result != facts.Refused || !o.Would || o.Rule != "hazards.MW106" {
		t.Errorf("outcome %+v", o)
	}
}
