package lint

import (
	"slices"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
)

// tenants reports an exemption that rests on nothing but what the author of a
// pod chooses: an allow above something that denies, or a deny's except.
func (l *linter) tenants(r *rule) {
	if r.Audit {
		return // decides nothing
	}
	switch r.Action {
	case facts.ActionAllow:
		k, ok := chosen(r.Match)
		if _, about := key(r.Match, keySource); ok && about && k.Name == keyDestination {
			ok = false // rests on the path of the host
		}
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

// chosen returns the first key whose value the author of a pod writes down.
// So are mounts, which are what is judged: a source, a propagation, a kind of
// volume says what may be done. Where it is mounted says nothing of that, and a
// role is had by whoever mounts the same paths. A destination comes last.
func chosen(keys []policy.Key) (policy.Key, bool) {
	for _, k := range keys {
		if slices.Contains([]string{"pod", "container", keyImage, keyLabels, keyAnnotations, keyRole, "runtime_handler"}, k.Name) {
			return k, true
		}
	}
	return key(keys, keyDestination)
}

// gated reports whether a match also rests on what a tenant does not choose:
// the namespace, and what admission grants.
func gated(match []policy.Key) bool {
	namespace, ok := key(match, keyNamespace)
	return ok && !slices.Contains(namespace.Values, "*") && !slices.Contains(namespace.Values, "**") || wants(match, keyPrivileged) || wants(match, keyStatic)
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
