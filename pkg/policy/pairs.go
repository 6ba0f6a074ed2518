package policy

import (
	"fmt"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

// pairKind is what the pod has pairs of.
type pairKind struct {
	key, noun string
	of        func(*facts.Pod) map[string]string
}

func labels() pairKind {
	return pairKind{"pod_labels", "label", func(p *facts.Pod) map[string]string { return p.Labels }}
}

func annotations() pairKind {
	return pairKind{"pod_annotations", "annotation", func(p *facts.Pod) map[string]string { return p.Annotations }}
}

// pairSelector holds where the pod has a label or annotation and its value is in
// one of the globs.
type pairSelector struct {
	pairKind
	name  string
	globs []nameGlob
}

func (s pairSelector) key() string { return fmt.Sprintf("%s.%q", s.pairKind.key, s.name) }

func (s pairSelector) match(q *query, _ bool) facts.Truth {
	value, ok := s.of(&q.container.Pod)[s.name]
	return truth(ok && anyName(s.globs, value))
}

func (s pairSelector) why(q *query, _ bool) string {
	value, ok := s.of(&q.container.Pod)[s.name]
	if !ok {
		return fmt.Sprintf("the pod has no such %s, wants %s", s.noun, orNames(s.globs))
	}
	return fmt.Sprintf("it is %q, wants %s", value, orNames(s.globs))
}

// together holds where all the keys of one table do.
type together struct {
	table string
	keys  []selector
}

func (s together) key() string { return s.table }

func (s together) match(q *query, strict bool) facts.Truth {
	result := facts.Yes
	for _, one := range s.keys {
		switch one.match(q, strict) {
		case facts.No:
			return facts.No
		case facts.Unknown:
			result = facts.Unknown
		case facts.Yes:
		}
	}
	return result
}

func (s together) why(q *query, strict bool) string {
	all := make([]string, len(s.keys))
	for i, one := range s.keys {
		name := strings.TrimPrefix(one.key(), s.table+".")
		all[i] = fmt.Sprintf("%s: %s", name, one.why(q, strict))
	}
	return strings.Join(all, ", ")
}
