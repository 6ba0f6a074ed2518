package audit

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// member is one exported field of a struct, as its tag wants it.
type member struct {
	index     []int
	name      string // quoted, with its colon
	nameB64   string
	omitEmpty bool
	omitZero  bool
	zeroer    bool // has a method IsZero of its own
}

// layouts remembers the members of the types that were met: a third of the cost
// of a record. It is safe for concurrent use.
type layouts struct {
	byType sync.Map
	last   atomic.Int64 // bytes of the last value
}

func (l *layouts) of(typ reflect.Type) []member {
	if known, ok := l.byType.Load(typ); ok {
		return known.([]member)
	}
	layout := layoutOf(typ, nil, nil)
	l.byType.Store(typ, layout)
	return layout
}

func (e encoder) structure(out []byte, v reflect.Value) ([]byte, error) {
	out = append(out, '{')
	first := true
	for _, m := range e.layouts.of(v.Type()) {
		field := v.FieldByIndex(m.index)
		if m.omits(field) {
			continue
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		var err error
		if out, err = e.member(out, m, field); err != nil {
			return nil, fmt.Errorf("%s %w", m.name, err)
		}
	}
	return append(out, '}'), nil
}

func (e encoder) member(out []byte, m member, v reflect.Value) ([]byte, error) {
	text, isText, err := textOf(v)
	switch {
	case err != nil:
		return nil, err
	case isText && !utf8.ValidString(text):
		return appendQuoted(append(out, m.nameB64...), base64Of(text)), nil
	case isText:
		return appendQuoted(append(out, m.name...), text), nil
	default:
		return e.value(append(out, m.name...), v)
	}
}

// layoutOf lists the members of a struct. An embedded struct without a name of
// its own gives its members.
func layoutOf(typ reflect.Type, path []int, layout []member) []member {
	for i := range typ.NumField() {
		field := typ.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" && options == "" || !field.IsExported() {
			continue
		}
		index := append(slices.Clone(path), i)
		if field.Anonymous && name == "" && field.Type.Kind() == reflect.Struct {
			layout = layoutOf(field.Type, index, layout)
			continue
		}
		if name == "" {
			name = field.Name
		}
		m := member{
			index:   index,
			name:    string(appendQuoted(nil, name)) + ":",
			nameB64: string(appendQuoted(nil, name+"_b64")) + ":",
			zeroer:  field.Type.Implements(reflect.TypeFor[interface{ IsZero() bool }]()),
		}
		for option := range strings.SplitSeq(options, ",") {
			m.omitEmpty = m.omitEmpty || option == "omitempty"
			m.omitZero = m.omitZero || option == "omitzero"
		}
		layout = append(layout, m)
	}
	return layout
}

// omits reports whether the tag leaves this value out.
func (m member) omits(v reflect.Value) bool {
	if m.omitZero {
		if v.IsZero() {
			return true
		}
		if m.zeroer && v.Interface().(interface{ IsZero() bool }).IsZero() {
			return true
		}
	}
	if !m.omitEmpty {
		return false
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.Array, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	default:
		return v.IsZero()
	}
}

const keyMark = "b64:"

// mapKey escapes a key that is not UTF-8, or that looks as if it were escaped.
func mapKey(key string) string {
	if utf8.ValidString(key) && !strings.HasPrefix(key, keyMark) {
		return key
	}
	return keyMark + base64Of(key)
}

// appendQuoted appends valid UTF-8 as a JSON string. What would not print is
// escaped, so that a record on a terminal cannot move the cursor or turn the
// direction of the text.
func appendQuoted(out []byte, s string) []byte {
	out = append(out, '"')
	for start := 0; start < len(s); {
		end := start
		for end < len(s) && s[end] >= ' ' && s[end] < 0x7f && s[end] != '"' && s[end] != '\\' {
			end++
		}
		out = append(out, s[start:end]...)
		if end == len(s) {
			break
		}
		r, size := utf8.DecodeRuneInString(s[end:])
		start = end + size
		switch {
		case r == '"' || r == '\\':
			out = append(out, '\\', byte(r))
		case unicode.IsPrint(r):
			out = utf8.AppendRune(out, r)
		case r == '\n':
			out = append(out, `\n`...)
		case r == '\t':
			out = append(out, `\t`...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return append(out, '"')
}
