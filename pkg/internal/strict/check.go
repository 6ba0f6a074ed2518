package strict

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// checker compares the tree of a file with the type it is to fill.
type checker struct {
	*Document
	errors Errors
}

// place is what surrounds a value: the keys of the struct that holds it, how
// the file addresses that struct, and what surrounds it in turn.
type place struct {
	fields map[string]reflect.Type
	path   []string
	outer  *place
}

// owner returns the nearest place whose struct has the key for such a value, or
// nil.
func (p *place) owner(name string, child *node) *place {
	for ; p != nil; p = p.outer {
		if t, ok := p.fields[name]; ok && (child == nil || fits(child, t)) {
			return p
		}
	}
	return nil
}

func (c *checker) fail(offset int, format string, args ...any) {
	c.errors = append(c.errors, Error{c.position(offset), fmt.Sprintf(format, args...)})
}

func (c *checker) value(n *node, t reflect.Type, path []string, in place) {
	for _, again := range n.repeats {
		c.value(again, t, path, in)
	}
	if decodesItself(t) {
		c.fail(n.value, "%s: no file can fill a %s", quote(path), t)
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		c.value(n, t.Elem(), path, in)
	case reflect.Interface:
	case reflect.Struct:
		if c.wantTable(n, path) {
			c.table(n, t, path, in)
		}
	case reflect.Map:
		if c.wantTable(n, path) {
			for _, name := range n.names() {
				child := n.keys[name]
				if outer, ok := in.fields[name]; ok && n.origin == explicit && !fits(child, t.Elem()) && fits(child, outer) {
					c.swallowed(child, "key", name, path, in)
					continue
				}
				c.value(child, t.Elem(), with(path, name), place{})
			}
		}
	case reflect.Slice:
		c.list(n, t.Elem(), path, in)
	default:
		if want, ok := scalar(n, t.Kind()); !ok {
			c.fail(n.value, "%s: want %s, found %s", quote(path), want, n.found()+hint(n, t.Kind()))
		}
	}
}

func (c *checker) wantTable(n *node, path []string) bool {
	if n.table() {
		return true
	}
	if n.origin == headers {
		c.fail(n.at, "%s is one table, not a list: write [%s], not [[%[2]s]]", quote(path), join(path))
		return false
	}
	c.fail(n.value, "%s: want a table, found %s", quote(path), n.found())
	return false
}

// list checks an array. One table where a list of tables belongs is reported,
// and looked into all the same.
func (c *checker) list(n *node, t reflect.Type, path []string, in place) {
	tables := t.Kind() == reflect.Struct || t.Kind() == reflect.Map
	switch {
	case n.array():
		for i, item := range n.items {
			at := path
			if !tables {
				at = element(path, i)
			}
			c.value(item, t, at, in)
		}
	case tables && n.table():
		switch n.origin {
		case explicit:
			c.fail(n.at, "%s is a list of tables: write [[%s]], not [%[2]s]", quote(path), join(path))
		case implied:
			c.fail(n.at, "%s is a list of tables: write [[%s]] before the tables below it", quote(path), join(path))
		default:
			c.fail(n.value, "%s: want a list of tables ([[%s]]), found a table", quote(path), join(path))
		}
		c.value(n, t, path, in)
	case tables:
		c.fail(n.value, "%s: want a list of tables ([[%s]]), found %s", quote(path), join(path), n.found())
	default:
		c.fail(n.value, "%s: want a list of %s, found %s", quote(path), plural(t), n.found()+bracket(n, t))
	}
}

func (c *checker) table(n *node, t reflect.Type, path []string, in place) {
	known := fields(t)
	for _, name := range n.names() {
		child := n.keys[name]
		if field, ok := known[name]; ok {
			if outer := in.owner(name, child); outer != nil && n.origin == explicit && !fits(child, field) {
				c.swallowed(child, "key", name, path, *outer)
				continue
			}
			c.value(child, field, with(path, name), place{known, path, &in})
			continue
		}
		c.unknown(n, child, name, known, path, in)
	}
}

// fits reports whether a value could be meant for a field, by its outer kind.
func fits(n *node, t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer:
		return fits(n, t.Elem())
	case reflect.Interface:
		return true
	case reflect.Struct, reflect.Map:
		return n.table()
	case reflect.Slice:
		return n.array()
	default:
		_, ok := scalar(n, t.Kind())
		return ok
	}
}

// decodesItself reports types whose methods go-toml calls for some values and
// not for others (v2.4.3 never calls those of a named string type).
func decodesItself(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// scalar reports whether a value has the kind of its field, and names what
// does.
func scalar(n *node, kind reflect.Kind) (want string, ok bool) {
	switch kind {
	case reflect.String:
		return "a string", n.kind == unstable.String
	case reflect.Bool:
		return "true or false", n.kind == unstable.Bool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "an integer", n.kind == unstable.Integer
	case reflect.Float32, reflect.Float64:
		return "a number", n.kind == unstable.Float || n.kind == unstable.Integer
	default:
		return "nothing (no file can fill a " + kind.String() + ")", false
	}
}

// hint helps where the value is right but for its quotes.
func hint(n *node, kind reflect.Kind) string {
	_, text := scalar(n, reflect.String)
	number := n.text != "" && strings.Trim(n.text, "0123456789") == ""
	switch {
	case text && kind == reflect.Bool && (n.text == "true" || n.text == "false"), text && kind != reflect.Bool && number:
		return "; write it without quotes"
	case kind == reflect.String && n.kind != unstable.String && !n.table() && !n.array():
		return "; write it in quotes"
	case kind == reflect.String && n.array() && n.origin != headers && len(n.items) == 1:
		return "; write it without brackets"
	default:
		return ""
	}
}

func bracket(n *node, t reflect.Type) string {
	if _, ok := scalar(n, t.Kind()); ok && n.kind == unstable.String {
		return fmt.Sprintf("; write [%q]", n.text)
	}
	return ""
}

func plural(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "strings"
	case reflect.Interface:
		return "values"
	case reflect.Slice:
		return "lists"
	case reflect.Bool:
		return "booleans"
	default:
		return "numbers"
	}
}
