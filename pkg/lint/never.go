package lint

import (
	"slices"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
)

// neverMatches reports a rule that takes out by except all that match lets in,
// and hazards that no list of mounts has when it is asked for.
func (l *linter) neverMatches(r *rule) {
	how := reading{doubt: !lets(r.Action), memory: l.memory} // a rule that refuses needs no sure match, its except does
	for _, group := range groups(r.Except) {
		if how.implied(r.Match, group) {
			l.report(facts.LintNeverMatches, r, group[0].At, "rule %q matches nothing: except.%s takes out all that match lets in; narrow except, or leave the rule out",
				r.Name, group[0].Name)
		}
	}
	for _, k := range slices.Concat(r.Match, r.Except) {
		if k.Name != keyHazard {
			continue
		}
		for i, code := range k.Values {
			if code == string(facts.HazardPinForBusy) {
				l.report(facts.LintNeverMatches, r, k.Place(i), "hazard %q never holds here: rules see the mounts as asked for, and it comes from a rule's raise; deny it in the table [hazards]", code)
			}
		}
	}
}

// noSuchFact reports keys that need more than the runtime tells.
func (l *linter) noSuchFact(r *rule) {
	if l.options.NRI == "" {
		return
	}
	for _, k := range slices.Concat(r.Match, r.Except) {
		since, ok := sinceNRI(k.Name)
		if !ok || !older(l.options.NRI, since) {
			continue
		}
		effect := "the rule never matches"
		if !lets(r.Action) {
			effect = "the rule matches every container"
		}
		if contains(r.Except, k) {
			effect = "the exception " + map[bool]string{true: "takes every container out of the rule", false: "is for none"}[lets(r.Action)]
		}
		l.report(facts.LintNoSuchFact, r, k.At, "this runtime (NRI %s) does not tell %s, which comes with NRI %s (containerd 2.4): %s; use namespace and pod_labels, or update",
			l.options.NRI, k.Name, since, effect)
	}
}

// sinceNRI returns the version of NRI that first tells a fact, and false for one
// that all do. Source: pkg/api/api.proto of nri v0.3.0 to v0.12.5.
func sinceNRI(key string) (string, bool) {
	if key == keyImage {
		return "0.12.2", true
	}
	return "", false
}

func contains(keys []policy.Key, k policy.Key) bool {
	return slices.ContainsFunc(keys, func(o policy.Key) bool { return same(o, k) && o.At == k.At })
}
