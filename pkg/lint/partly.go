package lint

import (
	"slices"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
)

// partly reports a deny of which a rule above lets some mounts be, that is about
// a wider source and about nobody in particular: there the deny does not hold.
// An exception is narrower than what it is excepted from, or for somebody.
func (l *linter) partly(r *rule) {
	sources, ok := key(r.Match, keySource)
	if r.Action != facts.ActionDeny || r.Audit || !ok || r.spelled {
		return
	}
	for i, source := range sources.Values {
		at, ok := l.within(source)
		if !ok {
			continue
		}
		before := upTo(l.speakers(at), r.index)
		for _, above := range before {
			a := &l.rules[above]
			if !a.decides() || !lets(a.Action) || !l.memory.spend(1) || !l.general(a, r, source) {
				continue
			}
			for _, c := range l.witnesses(joined(r.Match, a.Match)) {
				d, ok := l.decided(c, at, before)
				if !ok || d.Rule != a.Name {
					continue
				}
				if d, ok := l.decided(c, at, []int{r.index}); ok && d.Rule == r.Name {
					l.report(facts.LintPartly, r, sources.Place(i), "%s above lets %q be (%s), so that this deny does not hold there; move this rule above it, or take the path out of that one by except.source",
						a.place(), source, l.tells(c))
					return
				}
			}
		}
	}
}

// general reports whether a rule is about a wider source than one of another
// rule, and for all whom that is about.
func (l *linter) general(a, r *rule, source string) bool {
	how := reading{spelling: true, memory: l.memory}
	for _, k := range a.Match {
		switch k.Name {
		case keySource:
			wider := func(glob string) bool {
				return how.includes(keySource, glob, source) && !how.includes(keySource, source, glob)
			}
			if !slices.ContainsFunc(k.Values, wider) {
				return false
			}
		case keyPropagation, keyReadonly, keyDestination: // how it is mounted, not by whom
		default:
			if !how.always(k) && !slices.ContainsFunc(r.Match, func(o policy.Key) bool { return how.wider(k, o) }) {
				return false
			}
		}
	}
	return true
}

// joined returns the keys of a match, and those that it does not have of another.
// The propagations are those of both.
func joined(match, other []policy.Key) []policy.Key {
	all := slices.Clone(match)
	for _, k := range other {
		i := slices.IndexFunc(all, func(m policy.Key) bool { return same(m, k) })
		switch {
		case i < 0:
			all = append(all, k)
		case k.Name == keyPropagation:
			all[i].Values = slices.DeleteFunc(slices.Clone(all[i].Values), func(v string) bool { return !slices.Contains(k.Values, v) })
		}
	}
	return slices.DeleteFunc(all, func(k policy.Key) bool { return k.Name == keyPropagation && len(k.Values) == 0 })
}
