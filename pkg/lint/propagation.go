package lint

import (
	"slices"

	"github.com/mountward/mountward/pkg/facts"
)

// raises reports a raise to rshared that is not for privileged containers alone.
func (l *linter) raises(r *rule) {
	if r.Action != facts.ActionSet || r.Propagation != facts.Shared || wants(r.Match, keyPrivileged) || l.onlyAsks(r, facts.Shared) {
		return
	}
	if k, ok := key(r.Match, keyPrivileged); ok {
		l.report(facts.LintRaise, r, k.At, "rule %q raises to rshared for unprivileged containers, which may not mount onto the host: it never comes true, and on_unmet decides; write match.privileged = true, or leave the rule out", r.Name)
		return
	}
	l.report(facts.LintRaise, r, r.At, "rule %q raises to rshared, and only a privileged container may mount onto the host: for all others on_unmet decides; add match.privileged = true", r.Name)
}

// lowers reports a set that takes rshared from a mount, unless rules above it
// have decided all of those.
func (l *linter) lowers(r *rule) {
	shared := facts.Shared.String()
	if r.Action != facts.ActionSet || r.Propagation == facts.Shared {
		return
	}
	asked, named := key(r.Match, keyPropagation)
	if named && !slices.Contains(asked.Values, shared) {
		return
	}
	if not, ok := key(r.Except, keyPropagation); ok && slices.Contains(not.Values, shared) {
		return
	}
	if l.deciders(r.clause().with(keyPropagation, "", shared), r.index, true) != nil || l.memory.spent() {
		return // all of it, or it cannot be told
	}
	fix := "take \"shared\" out of match.propagation"
	if !named {
		fix = `add match.propagation = ["private", "unset"]`
		if r.Propagation == facts.Private {
			fix = `add match.propagation = ["slave", "unset"]`
		}
	}
	l.report(facts.LintLowers, r, r.At, "rule %q lowers rshared to %s: what such a container mounts no longer reaches the host, and no error says so (the pods of a CSI driver then write to the node's root disk); %s, or deny it",
		r.Name, r.Propagation.Option(), fix)
}

// onlyAsks reports a rule about mounts that ask for one kind and no other.
func (l *linter) onlyAsks(r *rule, kind facts.Propagation) bool {
	k, ok := key(r.Match, keyPropagation)
	return ok && !slices.ContainsFunc(k.Values, func(v string) bool { return v != kind.String() })
}
