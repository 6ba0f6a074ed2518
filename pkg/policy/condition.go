package policy

import "github.com/mountward/mountward/pkg/facts"

// condition is what stands under match, where all keys must hold, or under
// except, where none may.
type condition []selector

// any answers whether at least one key holds, with the key that the answer
// rests on: the first that holds, else the first that is unknown, else none.
func (c condition) any(q *query, strict bool) (facts.Truth, selector) {
	var unknown selector
	for _, s := range c {
		switch s.match(q, strict) {
		case facts.Yes:
			return facts.Yes, s
		case facts.Unknown:
			if unknown == nil {
				unknown = s
			}
		case facts.No:
		}
	}
	if unknown != nil {
		return facts.Unknown, unknown
	}
	return facts.No, nil
}

// holds answers whether all keys hold, with the key that the answer rests on:
// the first that fails, else the first that is unknown, else none.
func (c condition) holds(q *query, strict bool) (facts.Truth, selector) {
	var unknown selector
	for _, s := range c {
		switch s.match(q, strict) {
		case facts.No:
			return facts.No, s
		case facts.Unknown:
			if unknown == nil {
				unknown = s
			}
		case facts.Yes:
		}
	}
	if unknown != nil {
		return facts.Unknown, unknown
	}
	return facts.Yes, nil
}

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
func (r *Rule) try(q *query) verdict {
	strict := r.lenient()
	matched, selector := r.match.holds(q, strict)
	v := verdict{matched, selector, strict, false}
	if matched == facts.No || r.except == nil {
		return v
	}
	switch excepted, selector := r.except.any(q, !strict); excepted {
	case facts.Yes:
		return verdict{facts.No, selector, !strict, true}
	case facts.Unknown:
		if matched == facts.Yes {
			return verdict{facts.Unknown, selector, !strict, true}
		}
	case facts.No:
	}
	return v
}

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
