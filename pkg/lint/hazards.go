package lint

import (
	"slices"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hazard"
	"github.com/mountward/mountward/pkg/policy"
)

// hazards reports a rule that lets be what the table [hazards] denies, and a
// raise that nothing can make true.
func (l *linter) hazards(r *rule) {
	if !lets(r.Action) {
		return
	}
	named, _ := key(r.Match, keyHazard)
	for i, code := range named.Values {
		code := facts.HazardCode(code)
		denied, ok := l.denied(code)
		switch {
		case code == facts.HazardRROReceives && r.Action == facts.ActionSet && r.Propagation.Reach() > facts.Private.Reach():
			l.report(facts.LintHazard, r, named.Place(i), `rule %q sets %s where %s is about recursively read-only mounts, which never get it: on_unmet decides; write propagation = "rprivate"`, r.Name, r.Propagation.Option(), code)
		case ok && r.Action == facts.ActionAllow:
			l.report(facts.LintHazard, r, named.Place(i), `rule %q allows %s, which the table [hazards] denies all the same (%s); take it out of the table and deny it by a rule below this one`, r.Name, code, denied)
		}
	}
	sources, ok := key(r.Match, keySource)
	if !ok {
		return
	}
	for i, source := range sources.Values {
		for _, h := range l.probe(r, source) {
			if denied, ok := l.denied(h.Code); ok && !slices.Contains(named.Values, string(h.Code)) {
				l.report(facts.LintHazard, r, sources.Place(i), `rule %q lets be what the table [hazards] denies all the same (%s at %s): a mount of %q %s; take that path out, or the code out of the table`, r.Name, h.Code, denied, source, h.Message)
				return
			}
		}
	}
}

// denied returns where the table denies a hazard.
func (l *linter) denied(code facts.HazardCode) (string, bool) {
	rule, ok := l.policy.Hazards[code]
	return rule.Position, ok && rule.Action == facts.HazardDeny
}

// probe returns the hazards of one mount of the literal part of a source, as the
// rule leaves it. A rule that says nothing of the propagation asked for is taken
// to be about ordinary mounts.
func (l *linter) probe(r *rule, source string) []facts.Hazard {
	path, ok := l.literal(source)
	if !ok {
		return nil
	}
	var all []facts.Hazard
	asked, _ := key(r.Match, keyPropagation)
	if len(asked.Values) == 0 {
		asked.Values = []string{facts.Private.String()}
	}
	for _, word := range asked.Values {
		kind, _ := facts.ParseOption(word)
		m := facts.Mount{Source: path, Destination: "/probe", Type: "bind", Options: []string{"rbind"}}
		if kind != facts.Unset {
			m.Options = append(m.Options, kind.Option())
		}
		if wants(r.Match, keyReadonly) {
			m.Options = append(m.Options, "ro")
		}
		c := facts.Container{Mounts: []facts.Mount{m}, UserNamespace: wants(r.Match, keyUserns)}
		host := hazard.Host{KubeletRoot: l.vars.KubeletRoot, RuntimeState: l.vars.RuntimeState}
		if r.Action == facts.ActionAllow {
			all = append(all, hazard.Check(hazard.Asked(c, host))...)
			continue
		}
		o := facts.Outcome{Mount: m, Asked: kind, Decided: r.Propagation, Action: facts.ActionSet, Result: facts.Applied}
		all = append(all, hazard.Check(hazard.Decided(c, []facts.Outcome{o}, host))...)
	}
	return all
}

// literal returns a path that is certainly in a glob: its literal part.
func (l *linter) literal(glob string) (string, bool) {
	prefix, rest := l.memory.split(glob)
	path, ok := l.vars.Expand(prefix)
	return path, ok && policy.MatchBelow(rest, "")
}
