package lint

import (
	"fmt"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
)

// shadowed reports a rule that no mount comes to, or none by its spelling, and
// whether that is certain.
func (l *linter) shadowed(r *rule) bool {
	if by := l.deciders(r.clause(), r.index, false); by != nil {
		if len(by) == 1 && len(by[0].Match) == 0 && len(by[0].Except) == 0 {
			l.report(facts.LintUnreachable, r, r.At, "rule %q is never asked: %s above it decides every mount; move it above that rule, or leave it out", r.Name, by[0].place())
			return true
		}
		l.report(facts.LintShadowed, r, r.At, "rule %q is never asked: all of its mounts are decided above it by %s; move it above, or leave it out", r.Name, places(by))
		return true
	}
	source, ok := key(r.Match, keySource)
	if !ok {
		return false
	}
	if by := l.deciders(r.clause(), r.index, true); by != nil {
		l.report(facts.LintShadowedPath, r, r.At, "rule %q is asked only where a path leads elsewhere than it says (a link, another mount): as they are written, %s are decided above it by %s; move it above",
			r.Name, quoted(source.Values), places(by))
		r.spelled = true
	}
	return false
}

// deciders returns rules above a place that decide all mounts of a clause: one,
// or several that share the values of one key. nil where there are none.
func (l *linter) deciders(c clause, below int, spelling bool) []*rule {
	one := func(c clause) *rule {
		for _, i := range l.above(c, below, spelling) {
			if r := &l.rules[i]; r.decides() && r.clause().covers(c, spelling, l.memory) {
				return r
			}
		}
		return nil
	}
	if r := one(c); r != nil {
		return []*rule{r}
	}
	keys := c.match
	if _, ok := key(keys, keyPropagation); !ok {
		keys = append([]policy.Key{{Name: keyPropagation, Values: kinds()}}, keys...)
	}
	for _, k := range keys {
		if by := each(k, func(value string) *rule { return one(c.with(k.Name, k.Of, value)) }); by != nil {
			return by
		}
	}
	return nil
}

// each returns the rules that decide one value each, nil where one has none.
func each(k policy.Key, decider func(value string) *rule) []*rule {
	if len(k.Values) < 2 {
		return nil
	}
	var by []*rule
	seen := map[int]bool{}
	for _, value := range k.Values {
		r := decider(value)
		if r == nil {
			return nil
		}
		if !seen[r.index] {
			by, seen[r.index] = append(by, r), true
		}
	}
	return by
}

func places(rules []*rule) string {
	var words []string
	for i, r := range rules {
		if i == 3 && len(rules) > 4 {
			words = append(words, fmt.Sprintf("%d more rules", len(rules)-3))
			break
		}
		words = append(words, r.place())
	}
	return strings.Join(words, " and ")
}

func quoted(words []string) string {
	var all []string
	for i, w := range words {
		if i == 3 && len(words) > 4 {
			all = append(all, fmt.Sprintf("%d more", len(words)-3))
			break
		}
		all = append(all, fmt.Sprintf("%q", w))
	}
	return strings.Join(all, ", ")
}
