package lint

import (
	"path"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
)

// wayAround reports a deny of a path that a mount of a directory above it, or of
// what a single star leaves out, gets past.
func (l *linter) wayAround(r *rule) {
	sources, ok := key(r.Match, keySource)
	if r.Action != facts.ActionDeny || !ok || l.policy.Default == facts.ActionDeny {
		return
	}
	for i, source := range sources.Values {
		prefix, rest := policy.SplitPath(source)
		start, ok := l.vars.Expand(prefix)
		if !ok {
			continue
		}
		if rest == "*" && !l.thoughtOf(r, start) {
			l.report(facts.LintWayAround, r, sources.Place(i), "source %q is neither %s itself nor what lies deeper: a mount of those has it too; write %q", source, start, strings.TrimSuffix(source, "*")+"**")
			return
		}
		if open := l.openAbove(r, start); open != nil {
			l.report(facts.LintWayAround, r, sources.Place(i), "a mount of %s has %q too, and no rule is about it; add it to match.source, or a rule for it", strings.Join(open, ", "), source)
			return
		}
	}
}

// openAbove returns the directories above a path that no rule speaks of.
func (l *linter) openAbove(r *rule, start string) []string {
	var open []string
	for at := start; at != "/"; {
		at = path.Dir(at)
		if !l.thoughtOf(r, at) {
			open = append(open, at)
		}
	}
	return open
}

// thoughtOf reports whether any rule names the path as a source, or denies the
// mounts of a rule whatever their source is.
func (l *linter) thoughtOf(r *rule, at string) bool {
	at = path.Clean(at)
	return slices.ContainsFunc(l.rules, func(other rule) bool {
		sources, named := key(other.Match, keySource)
		if !named {
			return other.Action == facts.ActionDeny && other.clause().covers(r.clause().with(keySource, "", at), true)
		}
		return slices.ContainsFunc(sources.Values, func(glob string) bool {
			prefix, rest := policy.SplitPath(glob)
			start, ok := l.vars.Expand(prefix)
			below, within := facts.Below(at, path.Clean(start))
			return ok && within && !strings.Contains(rest, "${") && policy.MatchBelow(rest, below)
		})
	})
}
