package lint

import (
	"slices"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
)

// tenants reports an exemption that rests on nothing but what the author of a
// pod chooses: an allow above something that denies, or a deny's except.
func (l *linter) tenants(r *rule) {
	switch r.Action {
	case facts.ActionAllow:
		k, ok := chosen(r.Match)
		if ok && !gated(r.Match) && l.refusedBelow(r, func(below rule) bool { return k.Name != keyRole || toAll(below) }) {
			l.report(facts.LintTenants, r, k.At, "rule %q allows what is denied to others, and rests on %s, which whoever makes a pod chooses%s; add match.namespace", r.Name, k.Path(), mounts(k))
		}
	case facts.ActionDeny:
		for _, group := range groups(r.Except) {
			if k, ok := chosen(group); ok {
				l.report(facts.LintTenants, r, k.At, "rule %q lets past whoever chooses the right %s, and whoever makes a pod can%s; write except.namespace, or an allow above with match.namespace", r.Name, k.Path(), mounts(k))
			}
		}
	case facts.ActionSet, facts.ActionAudit:
	}
}

// chosen returns the first key whose value the author of a pod writes down, or
// that follows from what is written there. Mounts are chosen as well, but they
// are what is judged; a role is won by mounts beside the one that is.
func chosen(keys []policy.Key) (policy.Key, bool) {
	for _, k := range keys {
		if slices.Contains([]string{"pod", "container", keyImage, keyLabels, keyAnnotations, keyRole}, k.Name) {
			return k, true
		}
	}
	return policy.Key{}, false
}

// gated reports whether a match also rests on what a tenant does not choose:
// the namespace, and what admission grants.
func gated(match []policy.Key) bool {
	namespace, ok := key(match, keyNamespace)
	return ok && !slices.Contains(namespace.Values, "*") || wants(match, keyPrivileged) || wants(match, keyStatic)
}

// toAll reports a rule that is about no workload by its name, but about everybody.
func toAll(r rule) bool {
	return !slices.ContainsFunc(r.Match, func(k policy.Key) bool { return name(k.Name) || k.Name == keyImage })
}

// mounts explains how a role is chosen.
func mounts(k policy.Key) string {
	if k.Name != keyRole {
		return ""
	}
	return " by its mounts"
}
