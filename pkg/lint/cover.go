package lint

import (
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
)

// reading is how two rules are compared.
//
// One directory has many names: what a source glob's literal part leads to is
// known on the node alone. So a path in a wider glob is certainly matched by
// it only where both globs start at the same literal part. With spelling, paths
// are taken to lead where they say, and variables to be known.
//
// doubt is set where the earlier rule needs a sure match and the later one does
// not: what is not known then passes the one and matches the other.
type reading struct {
	spelling, doubt bool
	*memory
}

// clause is what a rule matches, and whether it needs to be sure.
type clause struct {
	match, except []policy.Key
	lets          bool
}

func (r *rule) clause() clause { return clause{r.Match, r.Except, lets(r.Action)} }

// with returns the clause with the values of one key replaced.
func (c clause) with(name, of string, values ...string) clause {
	k := policy.Key{Name: name, Of: of, Values: values}
	match := slices.DeleteFunc(slices.Clone(c.match), func(m policy.Key) bool { return m.Name == name && m.Of == of })
	c.match = slices.Concat(match, []policy.Key{k})
	return c
}

// covers reports whether every mount that the later clause matches is one that
// this one matches. It is sound, not complete: false is no answer, and it is
// false where no work is left.
func (c clause) covers(later clause, spelling bool, known *memory) bool {
	how := reading{spelling, c.lets && !later.lets, known}
	if !known.spend(1) {
		return false
	}
	for _, k := range c.match {
		if !how.always(k) && !slices.ContainsFunc(later.match, func(l policy.Key) bool { return how.wider(k, l) }) {
			return false
		}
	}
	for _, group := range groups(c.except) {
		if !how.apart(group, later.match) && !slices.ContainsFunc(groups(later.except), func(l []policy.Key) bool { return how.implied(group, l) }) {
			return false
		}
	}
	return true
}

// groups returns the keys of an except that hold together: those of one table,
// such as pod_labels or volume, are one key there. Any other is by itself.
func groups(except []policy.Key) [][]policy.Key {
	var all [][]policy.Key
	tables := map[string]int{}
	for _, k := range except {
		table, _, _ := strings.Cut(k.Name, ".")
		if i, ok := tables[table]; ok {
			all[i] = append(all[i], k)
			continue
		}
		tables[table] = len(all)
		all = append(all, []policy.Key{k})
	}
	return all
}

// implied reports whether the group that is wanted holds wherever the given
// one does.
func (how reading) implied(given, wanted []policy.Key) bool {
	for _, w := range wanted {
		if !how.always(w) && !slices.ContainsFunc(given, func(g policy.Key) bool { return how.wider(w, g) }) {
			return false
		}
	}
	return true
}

// apart reports whether an except's group can hold for no mount of a match.
func (how reading) apart(group, match []policy.Key) bool {
	return slices.ContainsFunc(group, func(g policy.Key) bool {
		return slices.ContainsFunc(match, func(m policy.Key) bool {
			return same(g, m) && (name(g.Name) || g.Name == keyPropagation || g.Name == keyRole) && !slices.ContainsFunc(m.Values, func(v string) bool {
				return !literal(v) || slices.ContainsFunc(g.Values, func(glob string) bool { return policy.MatchName(glob, v) })
			})
		})
	})
}

// always reports whether a key holds for every mount.
func (how reading) always(k policy.Key) bool {
	has := func(words ...string) bool {
		return !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(k.Values, w) })
	}
	switch k.Name {
	case keyPropagation:
		return len(k.Values) >= len(kinds()) && has(kinds()...)
	case keyDestination:
		return has("/**")
	default:
		return name(k.Name) && k.Of == "" && has("*")
	}
}

// wider reports whether one key holds wherever another does.
func (how reading) wider(wide, narrow policy.Key) bool {
	if !same(wide, narrow) || how.doubt && !how.sure(narrow) {
		return false
	}
	return !slices.ContainsFunc(narrow.Values, func(n string) bool {
		return !slices.ContainsFunc(wide.Values, func(w string) bool { return how.includes(wide.Name, w, n) })
	})
}

// includes reports whether one value of a key holds wherever another does.
func (how reading) includes(key, wide, narrow string) bool {
	switch {
	case !how.spend(1):
		return false
	case wide == narrow:
		return true
	case name(key), globbed(key):
		return nameWider(wide, narrow)
	case key == keyDestination:
		return how.pathWider(wide, narrow, true)
	case key == keySource:
		return how.pathWider(wide, narrow, how.spelling)
	default:
		return false
	}
}

// sure reports whether a key is never in doubt, nor read in two ways.
func (how reading) sure(k policy.Key) bool {
	switch k.Name {
	case keySource, keyDestination:
		return how.spelling || k.Name == keyDestination && !slices.ContainsFunc(k.Values, func(v string) bool { return strings.Contains(v, "${") })
	default:
		return name(k.Name) || slices.Contains([]string{keyPropagation, keyRole, keyStatic, keyUserns}, k.Name)
	}
}

func same(a, b policy.Key) bool { return a.Name == b.Name && a.Of == b.Of }

// Keys that have a meaning here. Any other is compared by its values as they
// are written.
const (
	keyPropagation = "propagation"
	keyDestination = "destination"
	keySource      = "source"
	keyRole        = "role"
	keyStatic      = "static_pod"
	keyUserns      = "user_namespace"
	keyReadonly    = "readonly"
	keyPrivileged  = "privileged"
	keyHazard      = "hazard"
	keyNamespace   = "namespace"
	keyLabels      = "pod_labels"
	keyAnnotations = "pod_annotations"
	keyImage       = "image"
	keyHostKind    = "host.propagation"
)

// name reports whether a key has globs for a name that is always known.
func name(key string) bool {
	return slices.Contains([]string{keyNamespace, "pod", "container", "runtime_handler", keyLabels, keyAnnotations}, key)
}

// globbed reports whether a key has globs for a name that can be unknown.
func globbed(key string) bool {
	return slices.Contains([]string{keyImage, "volume.name", "volume.driver"}, key)
}

// kinds are all propagations that a mount can ask for.
func kinds() []string {
	return []string{
		facts.Private.String(), facts.Slave.String(), facts.Shared.String(), facts.Unbindable.String(), facts.Unset.String(),
	}
}
