package strict

import (
	"reflect"
	"slices"
	"strings"
)

// fields returns the keys of a struct and their types.
func fields(t reflect.Type) map[string]reflect.Type {
	known := make(map[string]reflect.Type, t.NumField())
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("toml"), ",")
		if name != "" && name != "-" {
			known[name] = f.Type
		}
	}
	return known
}

// unknown reports a key that its table does not have, with what was probably
// meant.
func (c *checker) unknown(table, child *node, name string, known map[string]reflect.Type, path []string, in place) {
	full := quote(with(path, name))
	names := make([]string, 0, len(known))
	for k := range known {
		names = append(names, k)
	}
	slices.Sort(names)
	for _, k := range names {
		if strings.EqualFold(k, name) {
			c.fail(child.at, "unknown key %s: write %q, keys are case-sensitive", full, k)
			c.value(child, known[k], with(path, name), place{known, path, &in})
			return
		}
	}
	if outer := in.owner(name, nil); outer != nil && table.origin == explicit {
		c.swallowed(child, "unknown key", name, path, *outer)
		return
	}
	list := strings.Join(names, ", ")
	if near := meant(name, names, known); near != "" {
		c.fail(child.at, "unknown key %s: did you mean %q? (known here: %s)", full, near, list)
		return
	}
	c.fail(child.at, "unknown key %s (known here: %s)", full, list)
}

// meant returns the known key that a key of another name stands for, or "": one
// that is written alike, one that only its first word is missing of, or one of a
// table that is written in one word (host_propagation for host.propagation).
func meant(name string, names []string, known map[string]reflect.Type) string {
	if near := Nearest(name, names); near != "" {
		return near
	}
	for _, k := range names {
		if strings.HasSuffix(k, "_"+name) {
			return k
		}
		below, ok := strings.CutPrefix(name, k+"_")
		t := known[k]
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if ok && t.Kind() == reflect.Struct && fields(t)[below] != nil {
			return k + "." + below
		}
	}
	return ""
}

// swallowed reports a key that was meant for the table above: in TOML every
// line after a header belongs to that header.
func (c *checker) swallowed(child *node, what, name string, path []string, in place) {
	message := "%s %s: %q belongs to %s, but a line after a header is part of that header; write it before the %s header"
	owner := "the top of the file"
	if len(in.path) > 0 {
		owner = c.headerOf(in.path)
		message += " or use dotted keys (" + join(path[len(in.path):]) + ".KEY = ...) instead of that header"
	}
	c.fail(child.at, message, what, quote(with(path, name)), name, owner, c.headerOf(path))
}

// headerOf returns the header that opens a table as the file writes it.
func (c *checker) headerOf(path []string) string {
	if c.inList(path) {
		return "[[" + join(path) + "]]"
	}
	return "[" + join(path) + "]"
}

// inList reports whether the file writes [[path]].
func (c *checker) inList(path []string) bool {
	n := c.root
	for i, step := range path {
		if n = n.keys[step]; n == nil {
			return false
		}
		if n.origin == headers && i < len(path)-1 {
			n = n.items[0]
		}
	}
	return n.origin == headers
}

// Nearest returns the known key that a misspelling is closest to, or "" where
// none is close.
func Nearest(name string, known []string) string {
	best, distance := "", 3
	for _, k := range known {
		if d := edits(name, k); d < distance && 2*d <= len(k) {
			best, distance = k, d
		}
	}
	return best
}

// edits is the number of letters to insert, remove or replace to get from a
// to b.
func edits(a, b string) int {
	if len(a) > len(b)+2 || len(b) > len(a)+2 {
		return 3
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
