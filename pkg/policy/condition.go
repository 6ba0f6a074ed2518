package policy

import "github.com/mountward/mountward/pkg/facts"

// condition is what stands under match, where all keys must hold, or under
// except, where none may. The first so many keys, fixed, are about the container:
// what they come to is the same for all its mounts.
type condition struct {
	keys  []selector
	fixed int
}

// kinds returns, as bits, the propagations that the key about them lets be asked
// for: all where there is none.
func (c condition) kinds() uint8 {
	for _, s := range c.keys {
		if kinds, ok := s.(propagationSelector); ok {
			var bits uint8
			for _, kind := range kinds {
				bits |= 1 << kind
			}
			return bits
		}
	}
	return ^uint8(0)
}

// answer is what some keys come to: the truth, and the key that it rests on.
type answer struct {
	truth facts.Truth
	key   int32 // -1: on none of them
}

// settle asks keys until one has the truth that settles the matter: No where all
// must hold, Yes where one is enough. Else it rests on the first that is unknown.
func settle(keys []selector, q *query, strict bool, settles facts.Truth) answer {
	unknown := int32(-1)
	for i, s := range keys {
		switch t := s.match(q, strict); {
		case t == settles:
			return answer{t, int32(i)}
		case t == facts.Unknown && unknown < 0:
			unknown = int32(i)
		}
	}
	if unknown >= 0 {
		return answer{facts.Unknown, unknown}
	}
	return answer{opposite(settles), -1}
}

func opposite(t facts.Truth) facts.Truth {
	if t == facts.Yes {
		return facts.No
	}
	return facts.Yes
}

// ofContainer answers as far as the keys about the container go, and keeps that.
func (c *condition) ofContainer(q *query, strict bool, settles facts.Truth, known *kept) answer {
	if !known.asked {
		*known = kept{true, settle(c.keys[:c.fixed], q, strict, settles)}
	}
	return known.answer
}

// ask answers whether all keys hold (settles is No) or any does (it is Yes).
func (c *condition) ask(q *query, strict bool, settles facts.Truth, known *kept) answer {
	result := c.ofContainer(q, strict, settles, known)
	if result.truth == settles {
		return result
	}
	rest := settle(c.keys[c.fixed:], q, strict, settles)
	if rest.key >= 0 && (result.key < 0 || rest.truth == settles) {
		return answer{rest.truth, rest.key + int32(c.fixed)}
	}
	return result
}

// key returns the key that an answer rests on, or nil.
func (c *condition) key(a answer) selector {
	if a.key < 0 {
		return nil
	}
	return c.keys[a.key]
}

// kept is the answer of the keys about the container, once they were asked.
type kept struct {
	asked bool
	answer
}

// memo is what one rule keeps from mount to mount of a container.
type memo struct{ match, except kept }

// verdict is whether a rule matches, and what that rests on.
type verdict struct {
	matched  facts.Truth
	selector selector
	strict   bool
	except   bool
}

// try answers whether the rule matches: match, and nothing under except. A rule that lets
// a mount be reads its match strictly and its except leniently; one that
// refuses or reports does the reverse. Doubt is never in the pod's favour.
func (r *Rule) try(q *query, m *memo) verdict {
	strict := r.lenient()
	matched := r.match.ask(q, strict, facts.No, &m.match)
	if matched.truth == facts.No || r.except == nil {
		return verdict{matched.truth, r.match.key(matched), strict, false}
	}
	excepted := r.except.ask(q, !strict, facts.Yes, &m.except)
	switch {
	case excepted.truth == facts.Yes:
		return verdict{facts.No, r.except.key(excepted), !strict, true}
	case excepted.truth == facts.Unknown && matched.truth == facts.Yes:
		return verdict{facts.Unknown, r.except.key(excepted), !strict, true}
	default:
		return verdict{matched.truth, r.match.key(matched), strict, false}
	}
}

// applies reports whether the rule is taken to match. Doubt is never in the pod's
// favour, but what cannot be told of the host's own state is against nobody: a
// server that does not answer must not decide which containers start.
func (r *Rule) applies(v verdict, q *query) bool {
	if v.matched == facts.Unknown {
		return !r.lenient() && !r.unjudged(q)
	}
	return v.matched == facts.Yes
}

// unjudged reports a rule that asks what the source's mount is on the host, of a
// mount of which that is not known.
func (r *Rule) unjudged(q *query) bool { return r.asksHost && unknownHost(q) != "" }

// lenient reports a rule that lets a mount be.
func (r *Rule) lenient() bool {
	return r.Action == facts.ActionAllow || r.Action == facts.ActionSet
}

func (v verdict) key() string {
	switch {
	case v.selector == nil:
		return ""
	case v.except:
		return "except." + v.selector.key()
	default:
		return v.selector.key()
	}
}

func (v verdict) why(q *query) string {
	switch {
	case v.selector != nil && v.except && v.matched == facts.No:
		return "excepted: " + v.selector.why(q, v.strict)
	case v.selector != nil:
		return v.selector.why(q, v.strict)
	default:
		return "all keys of match hold"
	}
}
