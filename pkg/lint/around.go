package lint

import (
	"path"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

// wayAround reports a deny of a path that a mount of a directory above it, or of
// what a single star leaves out, gets past.
func (l *linter) wayAround(r *rule) {
	sources, ok := key(r.Match, keySource)
	if r.Action != facts.ActionDeny || !ok || l.policy.Default == facts.ActionDeny {
		return
	}
	for i, source := range sources.Values {
		prefix, rest := l.memory.split(source)
		start, ok := l.vars.Expand(prefix)
		if !ok {
			continue
		}
		if rest == "*" {
			if who, open := l.passes(r, source, start); open {
				l.report(facts.LintWayAround, r, sources.Place(i), "source %q is neither %s itself nor what lies deeper: a mount of those has it too%s; write %q", source, start, who, strings.TrimSuffix(source, "*")+"**")
				return
			}
		}
		var open []string
		why := ""
		for at := path.Clean(start); at != "/"; {
			at = path.Dir(at)
			if who, ok := l.passes(r, source, at); ok {
				open, why = append(open, at), who
			}
		}
		if len(open) > 0 {
			if why == "" {
				why = ", and no rule is about it"
			}
			l.report(facts.LintWayAround, r, sources.Place(i), "a mount of %s has %q too%s; add it to match.source, or a rule for it", strings.Join(open, ", "), source, why)
			return
		}
	}
}

// passes reports whether a mount of another path comes to the default where one
// of the source is denied, and for whom where rules are about the path.
func (l *linter) passes(r *rule, source, at string) (who string, ok bool) {
	if !l.memory.spend(1) {
		return "", false
	}
	at = path.Clean(at)
	others := l.speakers(at)
	if len(others) == 0 {
		return "", true
	}
	denied, ok := l.within(source)
	if !ok {
		return "", false
	}
	for _, c := range l.witnesses(r.Match) {
		if some := l.asking(others, c); len(some) > 0 {
			if d, ok := l.decided(c, at, some); !ok || d.Rule != "" || len(d.Shadow) > 0 {
				continue // somebody has thought of it
			}
		}
		if d, ok := l.decided(c, denied, []int{r.index}); ok && (d.Rule == r.Name || len(d.Shadow) > 0) {
			return ", and no rule decides it for all whom this one is about (" + l.tells(c) + ")", true
		}
	}
	return "", false
}

// asking returns the rules that can be about the propagation that a witness asks
// for, which most are not.
func (l *linter) asking(places []int, c facts.Container) []int {
	kind := c.Mounts[0].Requested().String()
	return slices.DeleteFunc(slices.Clone(places), func(i int) bool {
		k, ok := key(l.rules[i].Match, keyPropagation)
		return ok && !slices.Contains(k.Values, kind)
	})
}
