package strict

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// builder makes the tree of a file out of go-toml's expressions. It finds what
// TOML forbids about names (duplicates, redefinitions) itself, because go-toml
// stops at the first.
type builder struct {
	*Document
	data   []byte
	errors Errors
	table  *node    // of the last header
	header []string // its path
	end    int      // offset of what follows the last expression
}

func (b *builder) fail(offset int, format string, args ...any) {
	b.errors = append(b.errors, Error{b.position(offset), fmt.Sprintf(format, args...)})
}

// build reads the file and reports where it is no TOML.
func (b *builder) build() {
	if offset, err := b.read(); err != nil {
		b.syntax(offset, err)
	}
}

// read makes the tree of what stands before the first thing that is no TOML,
// and returns where that is and what the parser says of it.
func (b *builder) read() (offset int, err error) {
	b.table = b.root
	var p unstable.Parser
	p.Reset(b.data)
	for p.NextExpression() {
		switch e := p.Expression(); e.Kind {
		case unstable.Table, unstable.ArrayTable:
			keys := keysOf(e)
			b.open(keys, e.Kind == unstable.ArrayTable)
			b.end = b.skip(keys[len(keys)-1].after, " \t]")
		case unstable.KeyValue:
			b.end = b.assign(b.table, b.header, e)
		default: // comments
		}
	}
	err = p.Error()
	offset = len(b.data)
	var parser *unstable.ParserError
	if errors.As(err, &parser) {
		offset = int(p.Range(parser.Highlight).Offset)
	}
	return offset, err
}

type key struct {
	name  string
	at    int
	after int // offset of what follows
}

func keysOf(e *unstable.Node) []key {
	var keys []key
	for it := e.Key(); it.Next(); {
		n := it.Node()
		keys = append(keys, key{string(n.Data), int(n.Raw.Offset), int(n.Raw.Offset + n.Raw.Length)})
	}
	return keys
}

// open makes the table of a header the current one.
func (b *builder) open(keys []key, array bool) {
	parent := b.root
	b.header = nil
	for i, k := range keys {
		b.header = append(b.header, k.name)
		next, last := parent.keys[k.name], i == len(keys)-1
		switch {
		case last:
			b.table = b.define(parent, next, k, array)
			return
		case next == nil:
			next = newTable(implied, k.at)
			parent.keys[k.name] = next
		case next.origin == headers:
			next = next.items[len(next.items)-1]
		case next.origin < dotted:
			b.fail(k.at, "%s is complete since line %d and cannot get tables below it", quote(b.header), b.line(next))
			next = next.repeat(implied, k.at)
		}
		parent = next
	}
}

// define makes the table that a header opens. One that may not be opened is
// kept beside the first, so that its content is looked at too.
func (b *builder) define(parent, known *node, k key, array bool) *node {
	fresh := newTable(explicit, k.at)
	switch {
	case known == nil && array:
		parent.keys[k.name] = &node{kind: unstable.Array, origin: headers, at: k.at, value: k.at, items: []*node{fresh}}
		return fresh
	case known == nil:
		parent.keys[k.name] = fresh
		return fresh
	case array && known.origin == headers:
		known.items = append(known.items, fresh)
		return fresh
	case !array && known.origin == implied:
		known.origin, known.at, known.value = explicit, k.at, k.at
		return known
	case known.origin == headers:
		b.fail(k.at, "%s is a list of tables since line %d: write [[%s]], not [%[3]s]", quote(b.header), b.line(known), join(b.header))
		known.items = append(known.items, fresh)
		return fresh
	case array:
		b.fail(k.at, "%s is no list of tables: see line %d", quote(b.header), b.line(known))
	case known.origin < dotted:
		b.fail(k.at, "%s is complete since line %d", quote(b.header), b.line(known))
	default:
		b.fail(k.at, "duplicate table %s, first at line %d", quote(b.header), b.line(known))
	}
	return known.repeat(explicit, k.at)
}

// assign puts key = value below a table.
func (b *builder) assign(table *node, above []string, e *unstable.Node) int {
	keys := keysOf(e)
	last := keys[len(keys)-1]
	v, end := b.value(e.Value(), b.skip(last.after, " \t="), path(above, keys))
	v.at = last.at
	for i, k := range keys {
		next := table.keys[k.name]
		switch {
		case i == len(keys)-1 && next == nil:
			table.keys[k.name] = v
		case i == len(keys)-1:
			b.fail(k.at, "duplicate key %s, first at line %d", quote(path(above, keys)), b.line(next))
			next.repeats = append(next.repeats, v)
		case next == nil:
			next = newTable(dotted, k.at)
			table.keys[k.name] = next
		case next.origin != dotted:
			b.fail(k.at, "%s stands at line %d and cannot be added to by a dotted key", quote(path(above, keys[:i+1])), b.line(next))
			next = next.repeat(dotted, k.at)
		}
		table = next
	}
	return end
}

// value makes the node of a value that starts at an offset, and returns the
// offset of what follows it.
func (b *builder) value(e *unstable.Node, start int, above []string) (*node, int) {
	n := &node{kind: e.Kind, at: start, value: start}
	end := start + 1
	switch e.Kind {
	case unstable.Array:
		n.origin = inline
		for it := e.Children(); it.Next(); {
			var item *node
			item, end = b.value(it.Node(), b.skip(end, between), above)
			n.items = append(n.items, item)
		}
		end = b.skip(end, between) + 1
	case unstable.InlineTable:
		n.origin, n.keys = inline, map[string]*node{}
		for it := e.Children(); it.Next(); {
			end = b.assign(n, above, it.Node())
		}
		end = b.skip(end, between) + 1
	default:
		n.text = string(e.Data)
		end = int(e.Raw.Offset + e.Raw.Length)
	}
	return n, end
}

// between is what may stand between the elements of an array, comments aside.
const between = " \t\r\n,"

// skip returns the offset of the first byte that is none of the set and in no
// comment.
func (b *builder) skip(offset int, set string) int {
	for offset < len(b.data) {
		switch c := b.data[offset]; {
		case strings.IndexByte(set, c) >= 0:
			offset++
		case c == '#' && set == between:
			for offset < len(b.data) && b.data[offset] != '\n' {
				offset++
			}
		default:
			return offset
		}
	}
	return offset
}

func (n *node) repeat(o origin, at int) *node {
	again := newTable(o, at)
	n.repeats = append(n.repeats, again)
	return again
}

func (b *builder) line(n *node) int { return b.position(n.at).Line }

func path(above []string, keys []key) []string {
	all := append([]string(nil), above...)
	for _, k := range keys {
		all = append(all, k.name)
	}
	return all
}
