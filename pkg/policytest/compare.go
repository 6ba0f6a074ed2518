package policytest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/strict"
	"github.com/mountward/mountward/pkg/policy"
)

// comparison is one mount of a test against what is expected of it.
type comparison struct {
	policy   *policy.Policy
	judged   *Judged
	mount    int
	told     facts.Volume // by the test
	failures []Failure
}

func (c *comparison) all(e Expect) {
	outcome := c.judged.Outcomes[c.mount]
	c.volume(outcome.Mount.Volume)
	if e.Action != nil {
		c.same("action", string(*e.Action), string(outcome.Action), "")
	}
	if e.Rule != nil {
		c.same("rule", *e.Rule, outcome.Rule, c.unknownRule(*e.Rule))
	}
	if e.Propagation != nil {
		got := option(outcome.Decided)
		if outcome.Result == facts.Refused {
			got = "none: the container is refused"
		}
		c.same("propagation", option(*e.Propagation), got, "")
	}
	if e.Outcome != nil {
		got := string(outcome.Result)
		if outcome.Reason != "" && *e.Outcome != outcome.Result {
			got += ": " + outcome.Reason
		}
		c.same("outcome", string(*e.Outcome), got, "")
	}
	if e.Audited != nil {
		hint := ""
		for _, name := range *e.Audited {
			if hint == "" && name != "" {
				hint = c.unknownRule(name)
			}
		}
		c.same("audited", set(*e.Audited), set(outcome.Noted()), hint)
	}
	if e.Hazards != nil {
		c.same("hazards", set(*e.Hazards), set(c.hazards(outcome.Mount.Destination)), "")
	}
}

func (c *comparison) same(key, want, got, hint string) {
	if want != got {
		c.failures = append(c.failures, Failure{Mount: c.mount, Key: key, Want: want, Got: got, Hint: hint})
	}
}

// unknownRule tells of a name that no rule of the policy has: the test was
// misspelled, or is older than the policy.
func (c *comparison) unknownRule(name string) string {
	if name == "" || strings.HasPrefix(name, "hazards.") {
		return ""
	}
	var names []string
	for i := range c.policy.Rules {
		names = append(names, c.policy.Rules[i].Name)
	}
	if slices.Contains(names, name) {
		return ""
	}
	hint := fmt.Sprintf("the policy has no rule %q", name)
	if near := strict.Nearest(name, names); near != "" {
		hint += fmt.Sprintf(", did you mean %q?", near)
	}
	return hint
}

// hazards returns the codes of what is recorded about a mount.
func (c *comparison) hazards(destination string) []facts.HazardCode {
	var codes []facts.HazardCode
	for _, h := range c.judged.Hazards {
		if slices.Contains(h.Destinations, destination) {
			codes = append(codes, h.Code)
		}
	}
	return codes
}

// set writes names in an order of their own, each once.
func set[T ~string](items []T) string {
	names := make([]string, len(items))
	for i, item := range items {
		names[i] = strconv.Quote(string(item))
	}
	slices.Sort(names)
	return "[" + strings.Join(slices.Compact(names), ", ") + "]"
}

// option is the word of a test file.
func option(p facts.Propagation) string {
	if o := p.Option(); o != "" {
		return o
	}
	return p.String()
}
