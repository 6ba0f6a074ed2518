package strict

import (
	"bytes"
	"errors"
	"reflect"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// MaxSize is the largest file that Decode reads, in bytes.
const MaxSize = 1 << 20

// Decode reads a TOML file into a pointer to a struct (or a map) and returns
// where its values stand. name is what positions are reported with.
//
// The keys of a struct are its `toml` tags; a field without one has no key.
// Fields may be strings, booleans, integers, floats, any, and structs,
// string-keyed maps, slices and pointers of these. A type with methods that
// decode itself is not supported and reported as an error.
//
// The error is of type Errors and holds everything that is wrong; into then
// has no meaning; see [Salvage]. The Document is never nil.
func Decode(name string, data []byte, into any) (*Document, error) {
	if len(data) > MaxSize {
		d := newDocument(name, nil)
		err := Errors{{d.At(), "the file is larger than 1 MiB"}}
		return d, err
	}
	b := &builder{Document: newDocument(name, data), data: data}
	b.build()
	check := checker{Document: b.Document}
	check.value(b.root, reflect.TypeOf(into).Elem(), nil, place{})
	if err := append(b.errors, check.errors...).Err(); err != nil {
		return b.Document, err
	}
	decoder := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return b.Document, b.foreign(err)
	}
	return b.Document, nil
}

// syntax reports where the parser stopped.
func (b *builder) syntax(offset int, err error) {
	message := err.Error()
	var parser *unstable.ParserError
	if errors.As(err, &parser) {
		message = parser.Message
	}
	if cause := miscoded(b.data, offset); cause != "" {
		message = cause
	}
	b.fail(offset, "no valid TOML: %s", message)
}

// foreign reports what only go-toml's decoder finds, such as an integer that
// does not fit.
func (b *builder) foreign(err error) error {
	var missing *toml.StrictMissingError
	var decode *toml.DecodeError
	switch {
	case errors.As(err, &missing):
		for i := range missing.Errors {
			line, column := missing.Errors[i].Position()
			b.errors = append(b.errors, Error{Position{b.name, line, column}, strings.TrimPrefix(missing.Errors[i].Error(), "toml: ")})
		}
	case errors.As(err, &decode):
		line, column := decode.Position()
		b.errors = append(b.errors, Error{Position{b.name, line, column}, strings.TrimPrefix(decode.Error(), "toml: ")})
	default:
		b.fail(0, "%v", err)
	}
	return b.errors.Err()
}
