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
	keyVolume     = "volume"

	keyVolumeKind   = "volume.kind"
	keyVolumeDriver = "volume.driver"
	keyHost         = "host"
	keyLVM          = "lvm"
)

// condition makes the selectors of match or except: first those about the
// container, then those about the mount, of each the cheap ones first.
// oneKey keeps together what stands in a table of its own (pod_labels, volume),
// as except needs it: of its keys one is enough, but such a key holds where all
// below it do.
func (c *compiler) condition(at []any, raw *rawMatch, oneKey bool) condition {
	m := &matcher{compiler: c, at: at, oneKey: oneKey}
	m.container(raw)
	m.result.fixed = len(m.result.keys)
	m.mount(raw)
	return m.result
}

func (m *matcher) container(raw *rawMatch) {
	m.answer(keyPrivileged, raw.Privileged, func(q *query) facts.Answer { return q.container.Privileged })
	m.answer("static_pod", raw.StaticPod, func(q *query) facts.Answer { return q.static })
	m.answer("user_namespace", raw.UserNamespace, func(q *query) facts.Answer { return facts.Is(q.container.UserNamespace, "") })
	m.role(raw.Role)
	m.names("namespace", raw.Namespace, func(q *query) string { return q.container.Pod.Namespace })
	m.names("container", raw.Container, func(q *query) string { return q.container.Name })
	m.names("pod", raw.Pod, func(q *query) string { return q.container.Pod.Name })
	m.runtimeHandler(raw.RuntimeHandler)
	m.words("image", raw.Image, image)
	m.pairs(labels(), raw.PodLabels)
	m.pairs(annotations(), raw.PodAnnotations)
}

func (m *matcher) mount(raw *rawMatch) {
	m.propagation(raw.Propagation)
	m.answer("readonly", raw.Readonly, readonly)
	m.host(raw.Host)
	m.volume(raw.Volume)
	m.hazards(raw.Hazard)
	if globs := m.paths("destination", raw.Destination); globs != nil {
		m.add(destinationSelector(globs))
	}
	if globs := m.paths(keySource, raw.Source); globs != nil {
		m.sources = append(m.sources, globs...)
		m.add(sourceSelector(globs))
	}
	m.lvm(raw.LVM)
}

type matcher struct {
	*compiler
	at     []any
	result condition
	oneKey bool
}

func (m *matcher) add(s selector) { m.result.keys = append(m.result.keys, s) }

// table adds the selectors of one table: as keys of their own, or as one.
func (m *matcher) table(key string, all []selector) {
	if m.oneKey && len(all) > 0 {
		all = []selector{together{key, all}}
	}
	m.result.keys = append(m.result.keys, all...)
}

func (m *matcher) path(steps ...any) []any { return append(slices.Clip(m.at), steps...) }

// given reports whether a list is there, and refuses an empty one.
func (m *matcher) given(n int, steps ...any) bool {
	if n == 0 && m.document.Has(m.path(steps...)...) {
		m.fail(m.path(steps...), "%q is empty and would match nothing: leave it out or list what it is about", dotted(steps))
	}
	return n > 0
}

func (m *matcher) answer(key string, want *bool, value func(*query) facts.Answer) {
	if want != nil {
		m.add(answerSelector{key, *want, value})
	}
}

func (m *matcher) names(key string, globs []string, value func(*query) string) {
	if m.given(len(globs), key) {
		m.add(nameSelector{key, m.nameGlobs(globs, key), value})
	}
}

// runtimeHandler takes an empty glob: the default handler has no name.
func (m *matcher) runtimeHandler(texts []string) {
	const key = "runtime_handler"
	if !m.given(len(texts), key) {
		return
	}
	s := nameSelector{name: key, value: func(q *query) string { return q.container.Pod.Runtime }}
	for i, text := range texts {
		s.globs = append(s.globs, m.nameGlob(text, key, i))
	}
	m.add(s)
}

func (m *matcher) words(key string, globs []string, value func(*query) facts.Word) {
	if m.given(len(globs), key) {
		m.add(wordSelector{key, m.nameGlobs(globs, key), value})
	}
}

func (m *matcher) nameGlobs(texts []string, steps ...any) []nameGlob {
	globs := make([]nameGlob, len(texts))
	for i, text := range texts {
		at := append(slices.Clip(steps), i)
		globs[i] = m.nameGlob(text, at...)
		if text == "" {
			m.fail(m.path(at...), "an empty glob matches nothing")
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

func (m *matcher) paths(key string, texts []string) []*pathGlob {
	if !m.given(len(texts), key) {
		return nil
	}
	globs := make([]*pathGlob, 0, len(texts))
	for i, text := range texts {
		g, err := newPathGlob(text)
		if err != nil {
			m.fail(m.path(key, i), "%v", err)
			continue
		}
		g.id = len(m.globs)
		m.globs = append(m.globs, g)
		globs = append(globs, g)
	}
	return globs
}

// kinds reads words for propagations, of which one may be "unset".
func (m *matcher) kinds(words []string, unset bool, steps ...any) []facts.Propagation {
	want := `"private", "slave", "shared" or "unbindable"`
	if unset {
		want = `"private", "slave", "shared", "unbindable" or "unset"`
	}
	var kinds []facts.Propagation
	for i, word := range words {
		at := m.path(append(slices.Clip(steps), i)...)
		switch kind, ok := spelling(word); {
		case unset && word == facts.Unset.String():
			kinds = append(kinds, facts.Unset)
		case !ok:
			m.fail(at, "want %s, not %q", want, word)
		case word != kind.String():
			m.fail(at, "write %q, not %q: a kind includes its recursive form", kind, word)
		default:
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

func (m *matcher) propagation(words []string) {
	const key = "propagation"
	if m.given(len(words), key) {
		m.add(propagationSelector(m.kinds(words, true, key)))
	}
}

func (m *matcher) role(roles []string) {
	const key = "role"
	if !m.given(len(roles), key) {
		return
	}
	s := nameSelector{name: key, value: func(q *query) string { return q.container.Role }}
	for i, role := range roles {
		if role != facts.RoleCSINode {
			m.fail(m.path(key, i), "unknown role %q: there is %q", role, facts.RoleCSINode)
		}
		s.globs = append(s.globs, literal(role))
	}
	m.add(s)
}
