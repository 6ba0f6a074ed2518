package policy

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/strict"
)

// Written is a rule as its author wrote it, for readers that do not decide by
// it: lint, coverage, other languages.
type Written struct {
	At     strict.Position
	Match  []Key
	Except []Key
	Ignore []Ignored
}

// Key is one key of match or except. A key of a table is written "volume.kind";
// one of pod_labels and its like is the name of the table, and which one it is
// stands in Of. Values has more than one where any of them will do; true and
// false are values too.
type Key struct {
	Name   string
	Of     string
	Values []string
	At     strict.Position
	places []strict.Position
}

// Place returns where a value stands.
func (k Key) Place(value int) strict.Position {
	if value < len(k.places) {
		return k.places[value]
	}
	return k.At
}

// Path is the key as it is written below match, such as pod_labels."app".
func (k Key) Path() string {
	if k.Of == "" {
		return k.Name
	}
	return fmt.Sprintf("%s.%q", k.Name, k.Of)
}

// Ignored is a code of lint_ignore.
type Ignored struct {
	Code facts.LintCode
	At   strict.Position
}

// Written returns what stands in the file. It must not be changed.
func (r *Rule) Written() Written { return r.written }

// DefaultAt returns where the policy's default stands.
func (p *Policy) DefaultAt() strict.Position { return p.defaultAt }

// LintIgnore returns the codes that the policy silences for all of it.
func (p *Policy) LintIgnore() []Ignored { return p.ignore }

// keys lists what a table of selectors holds, whichever there are.
func (c *compiler) keys(at []any, table reflect.Value, prefix string) []Key {
	table = reflect.Indirect(table)
	if !table.IsValid() {
		return nil
	}
	var all []Key
	for i := range table.NumField() {
		tag, field := table.Type().Field(i).Tag.Get("toml"), reflect.Indirect(table.Field(i))
		if tag == "" || !field.IsValid() {
			continue
		}
		path := append(slices.Clip(at), tag)
		switch field.Kind() {
		case reflect.Struct:
			all = append(all, c.keys(path, field, prefix+tag+".")...)
		case reflect.Map:
			for _, name := range field.MapKeys() {
				all = append(all, c.key(append(slices.Clip(path), name.String()), prefix+tag, name.String(), field.MapIndex(name)))
			}
		case reflect.Slice:
			if field.Len() > 0 {
				all = append(all, c.key(path, prefix+tag, "", field))
			}
		default:
			all = append(all, c.key(path, prefix+tag, "", field))
		}
	}
	slices.SortStableFunc(all, func(a, b Key) int { return comparePositions(a.At, b.At) })
	return all
}

func (c *compiler) key(at []any, name, of string, value reflect.Value) Key {
	k := Key{Name: name, Of: of, At: c.document.At(at...)}
	if value.Kind() == reflect.Interface {
		value = value.Elem()
	}
	if value.Kind() != reflect.Slice {
		k.Values = []string{fmt.Sprint(value.Interface())}
		return k
	}
	for i := range value.Len() {
		k.Values = append(k.Values, fmt.Sprint(value.Index(i).Interface()))
		k.places = append(k.places, c.document.At(append(slices.Clip(at), i)...))
	}
	return k
}

func comparePositions(a, b strict.Position) int {
	if a.Line != b.Line {
		return a.Line - b.Line
	}
	return a.Column - b.Column
}

// ignored reads a list of lint codes.
func (c *compiler) ignored(at []any, codes []string) []Ignored {
	if len(codes) == 0 && c.document.Has(at...) {
		c.fail(at, "%q is empty and silences nothing: leave it out", at[len(at)-1])
	}
	var known []string
	for _, code := range facts.LintCodes() {
		known = append(known, string(code))
	}
	var all []Ignored
	for i, text := range codes {
		item := append(slices.Clip(at), i)
		if c.code(item, "lint code", text, known) {
			all = append(all, Ignored{facts.LintCode(text), c.document.At(item...)})
		}
	}
	return all
}
