package policy

import (
	"fmt"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

// selector is one key of match or except.
type selector interface {
	key() string
	// match answers whether the key holds. strict tells how a source that has
	// several spellings is read; see sourceSelector.
	match(q *query, strict bool) facts.Truth
	// why tells what the answer rests on: for No what was found and what was
	// wanted, for Unknown why it is not known.
	why(q *query, strict bool) string
}

func truth(ok bool) facts.Truth {
	if ok {
		return facts.Yes
	}
	return facts.No
}

// nameSelector holds where a name is in one of the globs.
type nameSelector struct {
	name  string
	globs []nameGlob
	value func(q *query) string
}

func (s nameSelector) key() string { return s.name }

func (s nameSelector) match(q *query, _ bool) facts.Truth {
	return truth(anyName(s.globs, s.value(q)))
}

func (s nameSelector) why(q *query, _ bool) string {
	return fmt.Sprintf("it is %q, wants %s", s.value(q), orNames(s.globs))
}

// answerSelector holds where a fact with three answers is what it wants.
type answerSelector struct {
	name  string
	want  bool
	value func(q *query) facts.Answer
}

func (s answerSelector) key() string { return s.name }

func (s answerSelector) match(q *query, _ bool) facts.Truth {
	switch s.value(q).Truth {
	case facts.Yes:
		return truth(s.want)
	case facts.No:
		return truth(!s.want)
	default:
		return facts.Unknown
	}
}

func (s answerSelector) why(q *query, _ bool) string {
	answer := s.value(q)
	text := answer.Truth.String()
	if answer.Why != "" {
		text += " (" + answer.Why + ")"
	}
	return fmt.Sprintf("it is %s, wants %v", text, s.want)
}

// propagationSelector holds where the mount asks for one of the kinds.
type propagationSelector []facts.Propagation

func (propagationSelector) key() string { return "propagation" }

func (s propagationSelector) match(q *query, _ bool) facts.Truth {
	for _, kind := range s {
		if q.asked == kind {
			return facts.Yes
		}
	}
	return facts.No
}

func (s propagationSelector) why(q *query, _ bool) string {
	return fmt.Sprintf("it is %q, wants %s", q.asked, or(s, func(p facts.Propagation) string { return p.String() }))
}

// destinationSelector holds where the path in the container is in one of the
// globs.
type destinationSelector []*pathGlob

func (destinationSelector) key() string { return "destination" }

func (s destinationSelector) match(q *query, _ bool) facts.Truth {
	result := facts.No
	for _, g := range s {
		switch bound := q.glob(g); {
		case bound.missing != "":
			result = facts.Unknown
		case bound.below(q.destination, bound.prefix):
			return facts.Yes
		}
	}
	return result
}

func (s destinationSelector) why(q *query, _ bool) string {
	return missing(q, s) + fmt.Sprintf("it is %q, wants %s", q.destination, orPaths(s))
}

func anyName(globs []nameGlob, name string) bool {
	for i := range globs {
		if globs[i].match(name) {
			return true
		}
	}
	return false
}

// missing names the variables that are not known, for reasons.
func missing(q *query, globs []*pathGlob) string {
	for _, g := range globs {
		if name := q.glob(g).missing; name != "" {
			return "${" + name + "} is not known; "
		}
	}
	return ""
}

func orNames(globs []nameGlob) string {
	return or(globs, func(g nameGlob) string { return g.text })
}

func orPaths(globs []*pathGlob) string {
	return or(globs, func(g *pathGlob) string { return g.text })
}

func or[T any](items []T, text func(T) string) string {
	words := make([]string, len(items))
	for i, item := range items {
		words[i] = fmt.Sprintf("%q", text(item))
	}
	return strings.Join(words, " or ")
}
