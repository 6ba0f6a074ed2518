package policy

import (
	"reflect"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

// maxName and maxReason keep a refusal, which names both, readable.
const (
	maxName   = 100
	maxReason = 1000
)

func (c *compiler) rule(i int, raw *rawRule) Rule {
	at := func(key string) []any { return []any{"rule", i, key} }
	r := Rule{
		Name: raw.Name, Reason: raw.Reason, Position: c.line("rule", i),
		Action: facts.Action(raw.Action), OnUnmet: OnUnmet(raw.OnUnmet),
	}
	if raw.Name == "" {
		c.fail(at("name"), `"name" is missing: every rule has a name of its own`)
	}
	c.oneLine(at("name"), raw.Name, maxName)
	c.oneLine(at("reason"), raw.Reason, maxReason)
	c.word(at("action"), raw.Action,
		string(facts.ActionAllow), string(facts.ActionSet), string(facts.ActionDeny), string(facts.ActionAudit))

	if raw.Match == nil {
		c.fail(at("match"), `"match" is missing: write match = {} for a rule about every mount`)
	} else {
		r.match = c.condition(at("match"), raw.Match, false)
		r.kinds = r.match.kinds()
	}
	if raw.Except != nil {
		before := len(c.errors)
		except := c.condition(at("except"), raw.Except, true)
		r.except = &except
		if len(except.keys) == 0 && len(c.errors) == before {
			c.fail(at("except"), "an empty except takes every mount out of the rule: leave it out")
		}
	}
	r.asksHost = r.Asks(keyHostPropagation)
	c.stored(i, raw, &r)
	c.set(at, raw, &r)
	r.Audit = raw.Mode == string(ModeAudit) && r.Action != facts.ActionAudit // that never decides anyway
	if c.document.Has(at("mode")...) && raw.Mode != string(ModeAudit) {
		c.fail(at("mode"), `"mode" of a rule must be %q, not %q: a rule without it follows the mode of the policy, which stands above the first header`, ModeAudit, raw.Mode)
	}
	r.written = Written{
		At:     c.document.At("rule", i),
		Match:  c.keys(at("match"), reflect.ValueOf(raw.Match), ""),
		Except: c.keys(at("except"), reflect.ValueOf(raw.Except), ""),
		Ignore: c.ignored(at("lint_ignore"), raw.LintIgnore),
	}
	return r
}

// stored checks that only a rule that audits asks for logical volumes.
func (c *compiler) stored(i int, raw *rawRule, r *Rule) {
	for _, under := range []string{"match", "except"} {
		if !c.document.Has("rule", i, under, keyLVM) {
			continue
		}
		r.stored = true
		switch r.Action {
		case facts.ActionAllow, facts.ActionSet, facts.ActionDeny:
			c.fail([]any{"rule", i, under, keyLVM},
				"\"lvm\" needs action = \"audit\", not %q: which logical volume a mount is on is looked up when the container runs, so that no storage can hold up its start; write action = \"audit\", or ask for volume.driver, volume.kind or source", raw.Action)
		case facts.ActionAudit:
		}
	}
}

// set checks the keys that only action = "set" has.
func (c *compiler) set(at func(string) []any, raw *rawRule, r *Rule) {
	if raw.Action != string(facts.ActionSet) {
		for _, key := range []string{"propagation", "on_unmet"} {
			if c.document.Has(at(key)...) {
				c.fail(at(key), "%q needs action = \"set\"", key)
			}
		}
		return
	}
	if c.document.Has(at("on_unmet")...) {
		c.word(at("on_unmet"), raw.OnUnmet, string(OnUnmetLeave), string(OnUnmetDeny))
	}
	if asked, ok := spelling(raw.Propagation); ok && asked != facts.Unbindable {
		r.Propagation = asked
		if raw.Propagation != asked.Option() {
			c.fail(at("propagation"), `"propagation": use %q, not %q`, asked.Option(), raw.Propagation)
		}
		return
	}
	c.word(at("propagation"), raw.Propagation, facts.Private.Option(), facts.Slave.Option(), facts.Shared.Option())
}

// spelling reads a propagation in any word that people use for it.
func spelling(word string) (facts.Propagation, bool) {
	for _, p := range []facts.Propagation{facts.Private, facts.Slave, facts.Shared} {
		if strings.EqualFold(word, p.Kubernetes()) {
			return p, true
		}
	}
	return facts.ParseOption(strings.ToLower(word))
}

// oneLine checks a text that is shown to people in the middle of a line.
func (c *compiler) oneLine(at []any, text string, most int) {
	key := at[len(at)-1]
	if len(text) > most {
		c.fail(at, "%q is longer than %d bytes", key, most)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		c.fail(at, "%q must be one line without control characters", key)
	}
}
