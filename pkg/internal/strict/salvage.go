package strict

import (
	"bytes"
	"reflect"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// maxLeftOut is how many lines that are no TOML Salvage passes over; each costs
// another reading of the file.
const maxLeftOut = 64

// Salvage reads what can be read of a file that [Decode] refuses: it fills the
// struct that into points to with every value that has the type of its field,
// and leaves the other fields as they are. A line that is no TOML is passed
// over, a key in another case counts as the key it is for a reader, of a
// repeated key the first one counts. The Document is never nil.
//
// Strings, booleans, lists of strings and tables of these are filled in, other
// fields are not.
func Salvage(name string, data []byte, into any) *Document {
	if len(data) > MaxSize {
		return newDocument(name, nil)
	}
	text := plain(data)
	var b *builder
	for range maxLeftOut {
		b = &builder{Document: newDocument(name, data), data: text}
		wrong, err := b.read()
		if err == nil || !b.leaveOut(b.skip(b.end, between), wrong) {
			break
		}
	}
	fill(b.root, reflect.ValueOf(into).Elem())
	return b.Document
}

// leaveOut takes away what is wrong in the expression that starts at an offset:
// the rest of the line, and next time the whole line. What is wrong in a later
// line, as after a list that nobody closed, is the start's fault. It reports
// whether anything was taken away.
func (b *builder) leaveOut(start, wrong int) bool {
	near := wrong < start || !bytes.Contains(b.data[start:wrong], []byte("\n"))
	return near && blank(b.data, wrong) || blank(b.data, start)
}

// blank replaces the rest of a line by blanks, so that offsets stay as they
// are, and reports whether that changed anything.
func blank(text []byte, offset int) (changed bool) {
	for i := offset; i < len(text) && text[i] != '\n'; i++ {
		changed = changed || text[i] != ' '
		text[i] = ' '
	}
	return changed
}

func fill(n *node, v reflect.Value) {
	for _, again := range n.repeats {
		fill(again, v)
	}
	switch v.Kind() {
	case reflect.Struct:
		for _, item := range n.items { // [[table]] for [table]
			fill(item, v)
		}
		for f, field := range v.Fields() {
			key, _, _ := strings.Cut(f.Tag.Get("toml"), ",")
			if child := n.child(key); child != nil && key != "" {
				fill(child, field)
			}
		}
	case reflect.String:
		if n.kind == unstable.String {
			v.SetString(n.text)
		}
	case reflect.Bool:
		if n.kind == unstable.Bool {
			v.SetBool(n.text == "true")
		}
	case reflect.Slice:
		fillList(n, v)
	default:
	}
}

// fillList fills in a list of strings, whole or not at all.
func fillList(n *node, v reflect.Value) {
	if v.Type().Elem().Kind() != reflect.String || !n.array() {
		return
	}
	list := reflect.MakeSlice(v.Type(), len(n.items), len(n.items))
	for i, item := range n.items {
		if item.kind != unstable.String {
			return
		}
		list.Index(i).SetString(item.text)
	}
	v.Set(list)
}
