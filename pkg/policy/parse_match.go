package policy

import (
	"slices"

	"github.com/mountward/mountward/pkg/facts"
)

// Keys that are asked for by name elsewhere.
const (
	keyPrivileged = "privileged"
	keySource     = "source"
	keyHazard     = "hazard"
)

// condition makes the selectors of match or except, the cheap ones first.
// oneKey keeps the labels of pod_labels together, as except needs them: of its
// keys one is enough, but a key holds where all its labels do.
func (c *compiler) condition(at []any, raw *rawMatch, oneKey bool) condition {
	m := &matcher{compiler: c, at: at, oneKey: oneKey}
	m.answer(keyPrivileged, raw.Privileged, func(q *query) facts.Answer { return q.container.Privileged })
	m.answer("static_pod", raw.StaticPod, func(q *query) facts.Answer { return q.static })
	m.propagation(raw.Propagation)
	m.role(raw.Role)
	m.hazards(raw.Hazard)
	m.names("namespace", raw.Namespace, func(q *query) string { return q.container.Pod.Namespace })
	m.names("pod", raw.Pod, func(q *query) string { return q.container.Pod.Name })
	m.names("container", raw.Container, func(q *query) string { return q.container.Name })
	m.labels(raw.PodLabels)
	if globs := m.paths("destination", raw.Destination); globs != nil {
		m.add(destinationSelector(globs))
	}
	if globs := m.paths(keySource, raw.Source); globs != nil {
		c.sources = append(c.sources, globs...)
		m.add(sourceSelector(globs))
	}
	return m.condition
}

type matcher struct {
	*compiler
	at        []any
	condition condition
	oneKey    bool
}

func (m *matcher) add(s selector) { m.condition = append(m.condition, s) }

func (m *matcher) path(steps ...any) []any { return append(slices.Clip(m.at), steps...) }

// given reports whether a list is there, and refuses an empty one.
func (m *matcher) given(key string, n int) bool {
	if n == 0 && m.document.Has(m.path(key)...) {
		m.fail(m.path(key), "%q is empty and would match nothing: leave it out or list what it is about", key)
	}
	return n > 0
}

func (m *matcher) answer(key string, want *bool, value func(*query) facts.Answer) {
	if want != nil {
		m.add(answerSelector{key, *want, value})
	}
}

func (m *matcher) names(key string, globs []string, value func(*query) string) {
	if m.given(key, len(globs)) {
		m.add(nameSelector{key, m.nameGlobs(key, globs), value})
	}
}

func (m *matcher) nameGlobs(key string, texts []string) []nameGlob {
	globs := make([]nameGlob, len(texts))
	for i, text := range texts {
		globs[i] = m.nameGlob(text, key, i)
		if text == "" {
			m.fail(m.path(key, i), "an empty glob matches nothing")
		}
	}
	return globs
}

func (m *matcher) nameGlob(text string, steps ...any) nameGlob {
	g, err := newNameGlob(text)
	if err != nil {
		m.fail(m.path(steps...), "%v", err)
	}
	return g
}

// labels reads a glob or a list of globs for every label. An empty glob is a
// label without a value.
func (m *matcher) labels(labels map[string]any) {
	const key = "pod_labels"
	if !m.given(key, len(labels)) {
		return
	}
	names := make([]string, 0, len(labels))
	for name := range labels {
		names = append(names, name)
	}
	slices.Sort(names)
	var all labelsSelector
	for _, name := range names {
		s := labelSelector{label: name}
		switch value := labels[name].(type) {
		case string:
			s.globs = append(s.globs, m.nameGlob(value, key, name))
		case []any:
			if len(value) == 0 {
				m.fail(m.path(key, name), "label %q has an empty list and would match nothing", name)
			}
			for i, item := range value {
				text, ok := item.(string)
				if !ok {
					m.fail(m.path(key, name, i), "label %q: want a string", name)
					continue
				}
				s.globs = append(s.globs, m.nameGlob(text, key, name, i))
			}
		default:
			m.fail(m.path(key, name), "label %q: want a string or a list of strings; a name with dots is written in quotes", name)
		}
		all = append(all, s)
	}
	if m.oneKey {
		m.add(all)
		return
	}
	for _, one := range all {
		m.add(one)
	}
}

func (m *matcher) paths(key string, texts []string) []*pathGlob {
	if !m.given(key, len(texts)) {
		return nil
	}
	globs := make([]*pathGlob, 0, len(texts))
	for i, text := range texts {
		g, err := newPathGlob(text)
		if err != nil {
			m.fail(m.path(key, i), "%v", err)
			continue
		}
		g.id = m.globs
		m.globs++
		globs = append(globs, g)
	}
	return globs
}

func (m *matcher) propagation(words []string) {
	const key = "propagation"
	if !m.given(key, len(words)) {
		return
	}
	var s propagationSelector
	for i, word := range words {
		kind, ok := spelling(word)
		switch {
		case word == facts.Unset.String():
			s = append(s, facts.Unset)
		case !ok || kind == facts.Unbindable:
			m.fail(m.path(key, i), `want "private", "slave", "shared" or "unset", not %q`, word)
		case word != kind.String():
			m.fail(m.path(key, i), "write %q, not %q: a kind includes its recursive form", kind, word)
		default:
			s = append(s, kind)
		}
	}
	m.add(s)
}

func (m *matcher) role(roles []string) {
	const key = "role"
	if !m.given(key, len(roles)) {
		return
	}
	s := nameSelector{name: key, value: func(q *query) string { return q.container.Role }}
	for i, role := range roles {
		if role != facts.RoleCSINode {
			m.fail(m.path(key, i), "unknown role %q: there is %q", role, facts.RoleCSINode)
		}
		s.globs = append(s.globs, nameGlob{role, role})
	}
	m.add(s)
}
