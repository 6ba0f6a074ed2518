package lint

import (
	"slices"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
)

// inDoubt reports a rule that does something else than its author thinks where a
// fact is not known at the creation of a container: one that lets a mount be, and
// an exception of one that refuses, are then for none, so that the mount is
// refused; one that refuses by what the host's mount is refuses nothing.
func (l *linter) inDoubt(r *rule) {
	switch r.Action {
	case facts.ActionAllow, facts.ActionSet:
		keys := slices.Concat(r.Match, r.Except)
		if r.Action == facts.ActionSet && r.Propagation == facts.Shared { // which needs to be sure: see raises
			keys = slices.DeleteFunc(keys, func(k policy.Key) bool { return k.Name == keyPrivileged })
		}
		if k, why, ok := l.doubtful(keys); ok && l.refusedBelow(r, func(rule) bool { return true }) {
			l.report(facts.LintInDoubt, r, k.At, "rule %q has no part where %s is not known (%s), and what is below it refuses the container; rest it on match.namespace in place of %[2]s, or silence this where that is meant",
				r.Name, k.Name, why)
		}
	case facts.ActionDeny:
		k, ok := key(slices.Concat(r.Match, r.Except), keyHostKind)
		if ok {
			l.report(facts.LintInDoubt, r, k.At, "rule %q refuses nothing where %s is not known (%s): it is no guard; refuse by match.source or match.propagation, or silence this where that is meant",
				r.Name, k.Name, whyUnknown(keyHostKind))
			return
		}
		if k, why, ok := l.doubtful(r.Except); ok {
			l.report(facts.LintInDoubt, r, k.At, "rule %q also refuses where except.%s is not known (%s); write except.namespace in place of it, or silence this where that is meant",
				r.Name, k.Name, why)
		}
	case facts.ActionAudit:
	}
}

// doubtful returns the first key whose fact can be unknown at creation, and when.
func (l *linter) doubtful(keys []policy.Key) (policy.Key, string, bool) {
	for _, k := range keys {
		since, late := sinceNRI(k.Name)
		if late && l.options.NRI != "" {
			continue // the runtime tells it, or it never does: see noSuchFact
		}
		why := whyUnknown(k.Name)
		if late {
			why = "before NRI " + since + ", containerd 2.4"
		}
		if why != "" {
			return k, why, true
		}
	}
	return policy.Key{}, "", false
}

// whyUnknown tells when a fact is not known at the creation of a container, ""
// for one that always is.
func whyUnknown(key string) string {
	switch key {
	case keyPrivileged:
		return "a container that mounts the host's /sys at /sys, as some CSI drivers and network agents do, or that is privileged without the host's devices"
	case "volume.kind":
		return "a subPath where the kubelet's directory does not answer within 50 ms"
	case "volume.driver":
		return "vol_data.json is not written yet, or not read within 50 ms"
	case keyHostKind:
		return "a source that does not answer within 50 ms, or that leads elsewhere at the start"
	default:
		return ""
	}
}

// refusedBelow reports whether the default, or one of some rules below, refuses
// mounts that may be the rule's.
func (l *linter) refusedBelow(r *rule, some func(rule) bool) bool {
	if l.policy.Default == facts.ActionDeny {
		return true
	}
	return slices.ContainsFunc(l.rules[r.index+1:], func(below rule) bool {
		return below.Action == facts.ActionDeny && l.memory.spend(1) && some(below) && !slices.ContainsFunc(below.Match, func(k policy.Key) bool {
			return reading{}.apart([]policy.Key{k}, r.Match) || l.elsewhere(k, r.Match)
		})
	})
}

// elsewhere reports a list of source paths of which none, as it is written, can
// be one of a match.
func (l *linter) elsewhere(k policy.Key, match []policy.Key) bool {
	m, ok := key(match, keySource)
	if k.Name != keySource || !ok {
		return false
	}
	meets := func(a, b string) bool {
		a, _ = l.memory.split(a)
		b, _ = l.memory.split(b)
		a, okA := l.vars.Expand(a)
		b, okB := l.vars.Expand(b)
		return !okA || !okB || facts.Within(a, b) || facts.Within(b, a)
	}
	return !slices.ContainsFunc(k.Values, func(a string) bool {
		return slices.ContainsFunc(m.Values, func(b string) bool { return meets(a, b) })
	})
}
