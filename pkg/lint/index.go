package lint

import (
	"path"
	"slices"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
)

// index finds the rules that can hold wherever a clause does, or that can speak
// of a path, without a look at all.
type index struct {
	anchors map[string][]int
	free    []int              // rules without an anchor
	paths   map[string][]named // by the literal part of a source, expanded
	nowhere []int              // rules without a source
	cannot  []int              // rules with a source whose variable is not known
}

// named is a rule by one glob of its sources.
type named struct {
	rule       int
	glob, rest string
}

func (l *linter) makeIndex() {
	l.index = index{anchors: map[string][]int{}, paths: map[string][]named{}}
	for i := range l.rules {
		r := &l.rules[i]
		all := l.anchors(r.Match)
		for _, anchor := range all {
			l.index.anchors[anchor] = append(l.index.anchors[anchor], i)
		}
		if len(all) == 0 {
			l.index.free = append(l.index.free, i)
		}
		sources, ok := key(r.Match, keySource)
		if !ok {
			l.index.nowhere = append(l.index.nowhere, i)
		}
		for _, glob := range sources.Values {
			prefix, rest := l.memory.split(glob)
			if start, ok := l.vars.Expand(prefix); ok {
				start = path.Clean(start)
				l.index.paths[start] = append(l.index.paths[start], named{i, glob, rest})
				continue
			}
			l.index.cannot = append(l.index.cannot, i)
		}
	}
}

// anchors are what a clause must have one of where the match holds for all of
// it: a plain name matches itself alone, and a source what starts where it does
// or below. None where any clause may do.
func (l *linter) anchors(match []policy.Key) []string {
	for _, k := range match {
		if name(k.Name) && !slices.ContainsFunc(k.Values, func(v string) bool { return !literal(v) }) {
			var all []string
			for _, v := range k.Values {
				all = append(all, k.Path()+"="+v)
			}
			return unique(all)
		}
	}
	sources, _ := key(match, keySource)
	var all []string
	for _, glob := range sources.Values {
		prefix, _ := l.memory.split(glob)
		all = append(all, prefix)
	}
	return unique(all)
}

func unique(words []string) []string {
	slices.Sort(words)
	return slices.Compact(words)
}

// above returns the rules before a place that can cover the clause, in order.
func (l *linter) above(c clause, place int, spelling bool) []int {
	all := slices.Clone(upTo(l.index.free, place))
	for _, k := range c.match {
		if name(k.Name) {
			all = append(all, upTo(l.index.anchors[k.Path()+"="+k.Values[0]], place)...)
		}
		if k.Name != keySource {
			continue
		}
		prefix, _ := l.memory.split(k.Values[0])
		all = append(all, upTo(l.index.anchors[prefix], place)...)
		for at := prefix; spelling && at != "/" && at != "."; {
			at = path.Dir(at)
			all = append(all, upTo(l.index.anchors[at], place)...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// upTo returns the places of a sorted list that come before one.
func upTo(places []int, place int) []int {
	n, _ := slices.BinarySearch(places, place)
	return places[:n]
}

// speakers returns the rules that can decide about a mount of a path as it is
// spelled, in order: those that name it, and those that name none.
func (l *linter) speakers(at string) []int {
	all := slices.Concat(l.index.nowhere, l.index.cannot)
	for above := at; ; above = path.Dir(above) {
		below, _ := facts.Below(at, above)
		for _, n := range l.index.paths[above] {
			if rest, ok := l.vars.Expand(n.rest); ok && policy.MatchBelow(rest, below) {
				all = append(all, n.rule)
			}
		}
		if above == "/" {
			break
		}
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(i int) bool { return l.rules[i].Action == facts.ActionAudit })
}
