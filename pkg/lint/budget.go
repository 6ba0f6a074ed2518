package lint

import (
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
)

// mostWork is how many values of rules are compared with one another, a few
// seconds of it. Rules that are told apart by a plain name or by the literal
// part of a path need nearly none of it, ten thousand of them too.
const mostWork = 10_000_000

// memory is what is known of globs already, and how much work is left. Work is
// counted and not timed: a policy has the same findings on every machine.
type memory struct {
	left   int
	splits map[string]split
}

type split struct{ prefix, rest string }

func newMemory(work int) *memory {
	if work == 0 {
		work = mostWork
	}
	return &memory{work, map[string]split{}}
}

// spend takes steps of work, and reports whether there were as many.
func (m *memory) spend(steps int) bool {
	if m.left < steps {
		m.left = 0
		return false
	}
	m.left -= steps
	return true
}

func (m *memory) spent() bool { return m.left == 0 }

// split is policy.SplitPath, which parses the glob.
func (m *memory) split(glob string) (prefix, rest string) {
	s, ok := m.splits[glob]
	if !ok {
		s.prefix, s.rest = policy.SplitPath(glob)
		m.splits[glob] = s
	}
	return s.prefix, s.rest
}

// notCompared reports where the work ended.
func (l *linter) notCompared() {
	if l.ended == nil {
		return
	}
	n := len(l.rules) - l.ended.index
	l.report(facts.LintNotCompared, nil, l.ended.At, "from rule %q on, %d of %d rules were not all compared with those above: they are told apart by globs alone, and that takes too long; what lies in the way of them was not looked for. Name paths or namespaces in them, or make fewer rules of them",
		l.ended.Name, n, len(l.rules))
}
