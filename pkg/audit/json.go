package audit

import (
	"cmp"
	"encoding"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"
)

// maxDepth stops at a value that contains itself.
const maxDepth = 64

// Marshal returns v as JSON as encoding/json would, with three differences:
// text that is not UTF-8 survives, by the rules in the package comment; a nil
// slice is [] and a nil map is {}; text that would not print is escaped. It
// knows the tag options omitempty and omitzero, embedded structs, and
// encoding.TextMarshaler; it does not call json.Marshaler.
func Marshal(v any) ([]byte, error) {
	return new(layouts).marshal(v)
}

func (l *layouts) marshal(v any) ([]byte, error) {
	// About as large as the last one: growing by and by makes most of the
	// garbage of a record.
	out, err := encoder{layouts: l}.value(make([]byte, 0, max(1024, l.last.Load()*9/8)), reflect.ValueOf(v))
	if err != nil {
		return nil, fmt.Errorf("encode %T as JSON: %w", v, err)
	}
	l.last.Store(int64(len(out)))
	return out, nil
}

type encoder struct {
	depth   int
	layouts *layouts
}

// value appends v. Text that is not UTF-8 becomes an object, as nobody here
// knows of a name that could tell it.
func (e encoder) value(out []byte, v reflect.Value) ([]byte, error) {
	if e.depth++; e.depth > maxDepth {
		return nil, errors.New("nested too deep")
	}
	text, isText, err := textOf(v)
	switch {
	case err != nil:
		return nil, err
	case isText && !utf8.ValidString(text):
		return append(appendQuoted(append(out, `{"b64":`...), base64Of(text)), '}'), nil
	case isText:
		return appendQuoted(out, text), nil
	}
	switch v.Kind() {
	case reflect.Invalid:
		return append(out, "null"...), nil
	case reflect.Pointer, reflect.Interface:
		return e.value(out, v.Elem())
	case reflect.Bool:
		return strconv.AppendBool(out, v.Bool()), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.AppendInt(out, v.Int(), 10), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return strconv.AppendUint(out, v.Uint(), 10), nil
	case reflect.Float32, reflect.Float64:
		number, err := json.Marshal(v.Float())
		return append(out, number...), err
	case reflect.Slice, reflect.Array:
		return e.array(out, v)
	case reflect.Map:
		return e.object(out, v)
	case reflect.Struct:
		return e.structure(out, v)
	default:
		return nil, fmt.Errorf("no JSON for a %s", v.Type())
	}
}

func (e encoder) array(out []byte, v reflect.Value) ([]byte, error) {
	if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
		return appendQuoted(out, base64Of(string(v.Bytes()))), nil
	}
	out = append(out, '[')
	for i := range v.Len() {
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = e.value(out, v.Index(i)); err != nil {
			return nil, err
		}
	}
	return append(out, ']'), nil
}

// object appends a map, sorted by its keys.
func (e encoder) object(out []byte, v reflect.Value) ([]byte, error) {
	type entry struct {
		key   string
		value reflect.Value
	}
	entries := make([]entry, 0, v.Len())
	for iter := v.MapRange(); iter.Next(); {
		key, isText, err := textOf(iter.Key())
		if err != nil || !isText {
			return nil, errors.Join(fmt.Errorf("no JSON for a key of type %s", v.Type().Key()), err)
		}
		entries = append(entries, entry{mapKey(key), iter.Value()})
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.key, b.key) })
	out = append(out, '{')
	for i, entry := range entries {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(appendQuoted(out, entry.key), ':')
		var err error
		if out, err = e.value(out, entry.value); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

// textOf returns the text of a string or an encoding.TextMarshaler, behind any
// pointers.
func textOf(v reflect.Value) (text string, ok bool, err error) {
	for v.IsValid() {
		if pointer := v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface; pointer && v.IsNil() {
			return "", false, nil
		}
		if m, ok := reflect.TypeAssert[encoding.TextMarshaler](v); ok {
			b, err := m.MarshalText()
			return string(b), true, err
		}
		switch v.Kind() {
		case reflect.String:
			return v.String(), true, nil
		case reflect.Pointer, reflect.Interface:
			v = v.Elem()
		default:
			return "", false, nil
		}
	}
	return "", false, nil
}

func base64Of(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
