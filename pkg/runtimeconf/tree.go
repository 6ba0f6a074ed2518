package runtimeconf

import (
	"maps"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/internal/strict"
)

// maxText is how much of a line is kept for evidence, in bytes.
const maxText = 200

// maxDepth is how deep tables are looked into: those of NRI are three deep.
const maxDepth = 16

// setting is one key of a file with its value, or with the keys below it.
type setting struct {
	at    Position
	value any                 // nil for a table
	table map[string]*setting // nil: no table
}

// parse reads one file.
func parse(name string, text []byte) (*setting, error) {
	values := map[string]any{}
	doc, err := strict.Decode(name, text, &values)
	if err != nil {
		return nil, err
	}
	p := parser{doc, lines(text)}
	return &setting{table: p.table(values, nil)}, nil
}

type parser struct {
	doc   *strict.Document
	lines []string
}

func (p parser) table(values map[string]any, path []any) map[string]*setting {
	table := make(map[string]*setting, len(values))
	for key, value := range values {
		path := append(path[:len(path):len(path)], key)
		s := &setting{at: position(p.doc.At(path...), p.lines)}
		if below, ok := value.(map[string]any); ok && len(path) < maxDepth {
			s.table = p.table(below, path)
		} else {
			s.value = value
		}
		table[key] = s
	}
	return table
}

func lines(text []byte) []string { return strings.Split(string(text), "\n") }

func position(at strict.Position, lines []string) Position {
	p := Position{File: at.File, Line: at.Line, Column: at.Column}
	if at.Line > 0 && at.Line <= len(lines) {
		p.Text = strings.TrimSpace(lines[at.Line-1])
		p.Text = p.Text[:min(len(p.Text), maxText)]
	}
	return p
}

// get returns the setting at a path, or nil. A key that is there in another
// case alone counts: containerd's decoder takes it too.
func (s *setting) get(path ...string) *setting {
	for _, key := range path {
		if s == nil {
			return nil
		}
		next := s.table[key]
		for _, name := range s.keys() {
			if next == nil && strings.EqualFold(name, key) {
				next = s.table[name]
			}
		}
		s = next
	}
	return s
}

// keys returns the keys of a table, sorted.
func (s *setting) keys() []string { return slices.Sorted(maps.Keys(s.table)) }

// merge lays a later table over this one: tables become one, any other value is
// replaced, be it by an empty one.
func (s *setting) merge(later *setting) {
	for key, with := range later.table {
		old := s.table[key]
		if old == nil || old.table == nil || with.table == nil {
			s.table[key] = with.clone()
			continue
		}
		old.at = with.at
		old.merge(with)
	}
}

// clone copies the tables, so that what is merged into the copy leaves the
// original as it is.
func (s *setting) clone() *setting {
	if s.table == nil {
		return s
	}
	table := make(map[string]*setting, len(s.table))
	for key, below := range s.table {
		table[key] = below.clone()
	}
	return &setting{at: s.at, table: table}
}
