package strict

import (
	"slices"
	"sort"
	"strings"
)

// Document tells where the values of a decoded file stand in it.
type Document struct {
	name  string
	lines []int // offsets at which lines start
	root  *node
}

// At returns the position of a value: of its key, or of the element where the
// last step of the path is an index. Steps are keys (string) and indexes
// (int). A path that leads to nothing gives the nearest ancestor that is
// there, in the end the top of the file. Where the file has a key only in
// another case, which is an error, that is the one.
func (d *Document) At(path ...any) Position {
	n, _ := d.find(path, (*node).child)
	return d.position(n.at)
}

// Has reports whether the file has a value at the path; see At.
func (d *Document) Has(path ...any) bool {
	_, ok := d.find(path, func(n *node, key string) *node { return n.keys[key] })
	return ok
}

func (d *Document) find(path []any, child func(*node, string) *node) (*node, bool) {
	n := d.root
	for _, step := range path {
		var next *node
		switch step := step.(type) {
		case string:
			next = child(n, step)
		case int:
			if step >= 0 && step < len(n.items) {
				next = n.items[step]
			}
		}
		if next == nil {
			return n, false
		}
		n = next
	}
	return n, true
}

func newDocument(name string, data []byte) *Document {
	lines := []int{0}
	for i, b := range data {
		if b == '\n' {
			lines = append(lines, i+1)
		}
	}
	return &Document{name: name, lines: lines, root: newTable(explicit, 0)}
}

func (d *Document) position(offset int) Position {
	line := sort.SearchInts(d.lines, offset+1)
	return Position{d.name, line, offset - d.lines[line-1] + 1}
}

// child returns the value of a key, where there is none that of one in another
// case, or nil.
func (n *node) child(name string) *node {
	if exact := n.keys[name]; exact != nil {
		return exact
	}
	for _, key := range n.names() {
		if strings.EqualFold(key, name) {
			return n.keys[key]
		}
	}
	return nil
}

// names returns the keys of a table in the order of the file.
func (n *node) names() []string {
	names := make([]string, 0, len(n.keys))
	for name := range n.keys {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return n.keys[a].at - n.keys[b].at })
	return names
}
