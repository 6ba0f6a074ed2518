package policytest

import (
	"slices"

	"github.com/mountward/mountward/pkg/facts"
)

func (p *parser) expect(at []any, raw *rawExpect) Expect {
	var e Expect
	if raw == nil {
		return e
	}
	key := func(name string) []any { return append(slices.Clip(at), name) }
	has := func(name string) bool { return p.document.Has(key(name)...) }
	if has("action") {
		p.oneOf(key("action"), raw.Action, string(facts.ActionAllow), string(facts.ActionSet), string(facts.ActionDeny))
		action := facts.Action(raw.Action)
		e.Action = &action
	}
	if has("propagation") {
		is := p.propagation(key("propagation"), raw.Propagation)
		e.Propagation = &is
	}
	if has("rule") {
		e.Rule = &raw.Rule
	}
	if has("outcome") {
		p.oneOf(key("outcome"), raw.Outcome, string(facts.Unchanged), string(facts.Applied), string(facts.Left), string(facts.Refused))
		outcome := facts.Result(raw.Outcome)
		e.Outcome = &outcome
	}
	if has("audited") {
		e.Audited = &raw.Audited
	}
	if has("hazards") {
		e.Hazards = p.hazards(key("hazards"), raw.Hazards)
	}
	if !e.Any() {
		p.fail(at, "this expects nothing and would pass whatever the policy says: write what must be decided, such as action = \"deny\"")
	}
	return e
}

func (p *parser) hazards(at []any, raw []string) *[]facts.HazardCode {
	codes := make([]facts.HazardCode, len(raw))
	for i, text := range raw {
		codes[i] = facts.HazardCode(text)
		if !slices.Contains(facts.HazardCodes(), codes[i]) {
			p.fail(append(slices.Clip(at), i), "unknown hazard %q: mountward explain lists them", text)
		}
	}
	return &codes
}
