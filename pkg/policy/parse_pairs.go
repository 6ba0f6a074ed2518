package policy

import (
	"maps"
	"slices"
)

// pairs reads a glob or a list of globs for every label or annotation. An empty
// glob is one without a value.
func (m *matcher) pairs(of pairKind, pairs map[string]any) {
	if !m.given(len(pairs), of.key) {
		return
	}
	var all []selector
	for _, name := range slices.Sorted(maps.Keys(pairs)) {
		all = append(all, pairSelector{of, name, m.pair(of, name, pairs[name])})
	}
	m.table(of.key, all)
}

func (m *matcher) pair(of pairKind, name string, value any) []nameGlob {
	switch value := value.(type) {
	case string:
		return []nameGlob{m.nameGlob(value, of.key, name)}
	case []any:
		if len(value) == 0 {
			m.fail(m.path(of.key, name), "%s %q has an empty list and would match nothing", of.noun, name)
		}
		var globs []nameGlob
		for i, item := range value {
			text, ok := item.(string)
			if !ok {
				m.fail(m.path(of.key, name, i), "%s %q: want a string", of.noun, name)
				continue
			}
			globs = append(globs, m.nameGlob(text, of.key, name, i))
		}
		return globs
	default:
		m.fail(m.path(of.key, name), "%s %q: want a string or a list of strings; a name with dots is written in quotes", of.noun, name)
		return nil
	}
}
