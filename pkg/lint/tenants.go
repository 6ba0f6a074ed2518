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
		if ok && l.deniesBelow(r) && !gated(r.Match) {
			l.report(facts.LintTenants, r, k.At, "rule %q allows what is denied to others, and rests on %s, which whoever makes a pod chooses; add match.namespace or match.privileged = true", r.Name, k.Path())
		}
	case facts.ActionDeny:
		for _, group := range groups(r.Except) {
			if k, ok := chosen(group); ok {
				l.report(facts.LintTenants, r, k.At, "rule %q lets past whoever chooses the right %s, and whoever makes a pod can; write except.namespace, or an allow above with match.namespace", r.Name, k.Path())
			}
		}
	case facts.ActionSet, facts.ActionAudit:
	}
}

// chosen returns the first key whose value the author of a pod writes down.
// Mounts are chosen as well, but they are what is judged.
func chosen(keys []policy.Key) (policy.Key, bool) {
	for _, k := range keys {
		if slices.Contains([]string{"pod", "container", keyImage, keyLabels, keyAnnotations}, k.Name) {
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

func (l *linter) deniesBelow(r *rule) bool {
	return l.policy.Default == facts.ActionDeny || slices.ContainsFunc(l.rules[r.index+1:], func(r rule) bool { return r.Action == facts.ActionDeny })
}
