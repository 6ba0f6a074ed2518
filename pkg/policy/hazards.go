package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/strict"
)

// HazardRule is one line of a policy's table [hazards].
type HazardRule struct {
	Action   facts.HazardAction
	Position string // FILE:LINE
}

// Judge returns the hazards that the policy does not ignore, with what it says
// about each.
func (p *Policy) Judge(hazards []facts.Hazard) []facts.Hazard {
	var judged []facts.Hazard
	for _, h := range hazards {
		rule, ok := p.Hazards[h.Code]
		if !ok {
			rule.Action = facts.HazardWarn
		}
		if rule.Action == facts.HazardIgnore {
			continue
		}
		h.Action, h.Position = rule.Action, rule.Position
		judged = append(judged, h)
	}
	return judged
}

// hazards reads the table. Its lines have no order, so none of them overrides
// one of another file.
func (c *compiler) hazards(raw map[string]string) {
	rules := c.policy.Hazards
	if rules == nil && len(raw) > 0 {
		rules = make(map[facts.HazardCode]HazardRule, len(raw))
		c.policy.Hazards = rules
	}
	for key, value := range raw {
		at := []any{"hazards", key}
		if slices.Contains([]string{"version", "mode", "default", "lint_ignore"}, key) {
			c.fail(at, "%q belongs to the top of the file, but a line after a header is part of that header; write it before the [hazards] header", key)
			continue
		}
		if code, ok := c.hazardCode(at, key); ok {
			if first, twice := rules[code]; twice {
				c.fail(at, "%s is set at %s already: one file alone says what a hazard is worth", code, first.Position)
				continue
			}
			c.word(at, value, string(facts.HazardIgnore), string(facts.HazardWarn), string(facts.HazardDeny))
			rules[code] = HazardRule{facts.HazardAction(value), c.line(at...)}
		}
	}
}

// hazardCode checks one code, wherever it stands.
func (c *compiler) hazardCode(at []any, text string) (facts.HazardCode, bool) {
	var known []string
	for _, code := range facts.HazardCodes() {
		known = append(known, string(code))
	}
	return facts.HazardCode(text), c.code(at, "hazard", text, known)
}

// code checks a code of hazards or of lint.
func (c *compiler) code(at []any, what, text string, known []string) bool {
	if slices.Contains(known, text) {
		return true
	}
	for _, code := range known {
		if strings.EqualFold(text, code) {
			c.fail(at, "unknown %s %q: write %q", what, text, code)
			return false
		}
	}
	hint := fmt.Sprintf("there are %s to %s, see: mountward explain", known[0], known[len(known)-1])
	if near := strict.Nearest(text, known); near != "" {
		hint = fmt.Sprintf("did you mean %q? (%s)", near, hint)
	}
	c.fail(at, "unknown %s %q: %s", what, text, hint)
	return false
}

// hazardSelector holds where one of the hazards of the asked list names the
// mount. A hazard that rests on what is not known before the container exists
// is no sure answer.
type hazardSelector []facts.HazardCode

func (hazardSelector) key() string { return keyHazard }

func (s hazardSelector) match(q *query, _ bool) facts.Truth {
	result := facts.No
	for _, h := range q.named() {
		switch {
		case !slices.Contains(s, h.Code):
		case h.Doubt == "":
			return facts.Yes
		default:
			result = facts.Unknown
		}
	}
	return result
}

func (s hazardSelector) why(q *query, _ bool) string {
	var has []string
	for _, h := range q.named() {
		text := string(h.Code)
		if h.Doubt != "" {
			text += " if " + h.Doubt
		}
		has = append(has, text)
	}
	if len(has) == 0 {
		has = []string{"no hazard"}
	}
	return fmt.Sprintf("it has %s, wants %s", strings.Join(has, ", "), or(s, func(c facts.HazardCode) string { return string(c) }))
}

// named returns the hazards that name the mount.
func (q *query) named() []facts.Hazard {
	if q.hazards == nil {
		q.hazards = map[string][]facts.Hazard{}
		for _, h := range q.container.Hazards {
			for i, d := range h.Destinations {
				if !slices.Contains(h.Destinations[:i], d) {
					q.hazards[d] = append(q.hazards[d], h)
				}
			}
		}
	}
	return q.hazards[q.raw]
}

func (m *matcher) hazards(codes []string) {
	if !m.given(len(codes), keyHazard) {
		return
	}
	var s hazardSelector
	for i, text := range codes {
		if code, ok := m.hazardCode(m.path(keyHazard, i), text); ok {
			s = append(s, code)
		}
	}
	m.add(s)
}
