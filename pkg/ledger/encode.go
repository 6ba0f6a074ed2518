package ledger

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mountward/mountward/pkg/facts"
)

// Schema is the name of the form that Put writes.
const Schema = "mountward.container/v1"

// record is an entry as it is written: with what package facts leaves out of
// its own JSON because it is too much for an audit record, and with each mount
// once, which halves the time that a creation waits.
type record struct {
	Entry
	Outcomes     []outcome         `json:"outcomes"`
	Labels       map[string]string `json:"container_labels,omitempty"`
	ConfigSource *string           `json:"pod_config_source,omitempty"`
}

// outcome is an outcome with its mount, or with the index of an equal one in
// the container's mounts.
type outcome struct {
	facts.Outcome
	Mount *facts.Mount `json:"mount,omitempty"`
	Index *int         `json:"mount_index,omitempty"`
}

func newRecord(e Entry) record {
	r := record{Entry: e, Labels: e.Container.Labels}
	if source, ok := e.Container.Pod.Annotations[facts.AnnotationConfigSource]; ok {
		r.ConfigSource = &source
	}
	r.Outcomes = make([]outcome, len(e.Outcomes))
	for i := range e.Outcomes {
		to := outcome{Outcome: e.Outcomes[i], Mount: &e.Outcomes[i].Mount}
		for j := range e.Container.Mounts {
			if same(&e.Container.Mounts[j], to.Mount) {
				to.Mount, to.Index = nil, &j
				break
			}
		}
		r.Outcomes[i] = to
	}
	return r
}

func (r record) entry() (Entry, error) {
	e := r.Entry
	e.Container.Labels = r.Labels
	if r.ConfigSource != nil {
		e.Container.Pod.Annotations = map[string]string{facts.AnnotationConfigSource: *r.ConfigSource}
	}
	for i, from := range r.Outcomes {
		o := from.Outcome
		switch {
		case from.Mount != nil:
			o.Mount = *from.Mount
		case from.Index != nil && *from.Index >= 0 && *from.Index < len(e.Container.Mounts):
			o.Mount = e.Container.Mounts[*from.Index]
		default:
			return Entry{}, fmt.Errorf("its outcome %d has no mount", i)
		}
		e.Outcomes = append(e.Outcomes, o)
	}
	return e, nil
}

// same reports whether two mounts are written alike.
func same(a, b *facts.Mount) bool {
	if a.Destination != b.Destination || a.Source != b.Source || a.Type != b.Type || a.HostWhy != b.HostWhy ||
		a.Actual != b.Actual || !slices.Equal(a.Options, b.Options) {
		return false
	}
	return a.Host == b.Host || a.Host != nil && b.Host != nil && *a.Host == *b.Host
}

// normal returns an entry as it will be read again.
func normal(e Entry) Entry {
	e.Schema = Schema
	source, ok := e.Container.Pod.Annotations[facts.AnnotationConfigSource]
	e.Container.Pod.Annotations = nil
	if ok {
		e.Container.Pod.Annotations = map[string]string{facts.AnnotationConfigSource: source}
	}
	return e
}

func encode(e Entry) ([]byte, error) {
	r := newRecord(e)
	data, err := json.Marshal(r)
	if err != nil || !damaged(data) {
		return data, err
	}
	return json.Marshal(mapStrings(reflect.ValueOf(r), armor).Interface())
}

func decode(data []byte) (Entry, error) {
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return Entry{}, err
	}
	if r.Schema != Schema {
		return Entry{}, fmt.Errorf("its schema is %q, want %q", r.Schema, Schema)
	}
	return mapStrings(reflect.ValueOf(r), unarmor).Interface().(record).entry()
}

// mark starts a string that JSON could not hold as it is: paths are bytes,
// JSON is UTF-8. What follows is base64. No path and no name starts so, and a
// string that does all the same is armored too.
const mark = "\x00b64:"

// damaged reports whether a string of the encoded text needs armor: whether
// there is a replacement character, which encoding/json writes for each byte
// that is no UTF-8, or a mark. It spares all other entries the copy.
func damaged(data []byte) bool {
	return bytes.Contains(data, []byte(`\ufffd`)) || bytes.Contains(data, []byte("\uFFFD")) ||
		bytes.Contains(data, []byte(`\u0000b64:`))
}

func armor(s string) string {
	if utf8.ValidString(s) && !strings.HasPrefix(s, mark) {
		return s
	}
	return mark + base64.StdEncoding.EncodeToString([]byte(s))
}

// unarmor leaves a string that armor did not make as it is.
func unarmor(s string) string {
	coded, ok := strings.CutPrefix(s, mark)
	if !ok {
		return s
	}
	raw, err := base64.StdEncoding.DecodeString(coded)
	if err != nil {
		return s
	}
	return string(raw)
}

// mapStrings returns a copy of v with f applied to every string in it. Fields
// that are not exported are copied as they are.
func mapStrings(v reflect.Value, f func(string) string) reflect.Value {
	switch v.Kind() {
	case reflect.String:
		if s := v.String(); f(s) != s {
			return reflect.ValueOf(f(s)).Convert(v.Type())
		}
	case reflect.Pointer:
		if !v.IsNil() {
			to := reflect.New(v.Type().Elem())
			to.Elem().Set(mapStrings(v.Elem(), f))
			return to
		}
	case reflect.Slice:
		if !v.IsNil() {
			to := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			for i := range v.Len() {
				to.Index(i).Set(mapStrings(v.Index(i), f))
			}
			return to
		}
	case reflect.Map:
		if !v.IsNil() {
			to := reflect.MakeMapWithSize(v.Type(), v.Len())
			for key, value := range v.Seq2() {
				to.SetMapIndex(mapStrings(key, f), mapStrings(value, f))
			}
			return to
		}
	case reflect.Struct:
		to := reflect.New(v.Type()).Elem()
		to.Set(v)
		for i := range v.NumField() {
			if field := to.Field(i); field.CanSet() {
				field.Set(mapStrings(v.Field(i), f))
			}
		}
		return to
	default:
	}
	return v
}
