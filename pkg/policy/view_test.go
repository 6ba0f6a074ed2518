package policy

import (
	"maps"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mountward/mountward/pkg/internal/strict"
)

func TestWrittenIsWhatStandsInTheFile(t *testing.T) {
	p := parse(t, "lint_ignore = [\"MW213\"]\n"+head+`[[rule]]
name = "a"
match.privileged = true
match.source = ["/data/**",
  "/x"]
match.pod_labels = { app = "x*", "a.b/c" = ["y", ""] }
except.namespace = ["b"]
action = "deny"
lint_ignore = ["MW211", "MW209"]
[[rule]]
name = "b"
match = {}
action = "audit"
`)
	at := func(line, column int) strict.Position {
		return strict.Position{File: "p.toml", Line: line, Column: column}
	}
	want := Written{
		At: at(5, 3),
		Match: []Key{
			{Name: "privileged", Values: []string{"true"}, At: at(7, 7)},
			{Name: "source", Values: []string{"/data/**", "/x"}, At: at(8, 7)},
			{Name: "pod_labels", Of: "app", Values: []string{"x*"}, At: at(10, 22)},
			{Name: "pod_labels", Of: "a.b/c", Values: []string{"y", ""}, At: at(10, 34)},
		},
		Except: []Key{{Name: "namespace", Values: []string{"b"}, At: at(11, 8)}},
		Ignore: []Ignored{{"MW211", at(13, 16)}, {"MW209", at(13, 25)}},
	}
	got := p.Rules[0].Written()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Key{})); diff != "" {
		t.Error(diff)
	}
	if place := got.Match[1].Place(1); place != at(9, 3) {
		t.Errorf("the second source is at %v", place)
	}
	if place := got.Match[0].Place(0); place != at(7, 7) {
		t.Errorf("privileged is at %v", place)
	}
	if path := got.Match[3].Path(); path != `pod_labels."a.b/c"` {
		t.Errorf("path %s", path)
	}
	if got := p.Rules[1].Written(); got.At != at(14, 3) || got.Match != nil || got.Except != nil || got.Ignore != nil {
		t.Errorf("a rule about everything: %+v", got)
	}
	if diff := cmp.Diff([]Ignored{{"MW213", at(1, 16)}}, p.LintIgnore()); diff != "" {
		t.Error(diff)
	}
	if p.DefaultAt() != at(4, 1) {
		t.Errorf("the default is at %v", p.DefaultAt())
	}
}

// Whatever keys there are or will be: none is left out.
func TestWrittenHasEveryKey(t *testing.T) {
	var raw rawMatch
	want := fill(reflect.ValueOf(&raw).Elem(), "")
	document, err := strict.Decode("p.toml", nil, &rawFile{})
	if err != nil {
		t.Fatal(err)
	}
	c := &compiler{document: document}
	got := map[string]int{}
	for _, k := range c.keys(nil, reflect.ValueOf(&raw), "") {
		got[k.Name] = len(k.Values)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(want) < 11 {
		t.Errorf("%d keys", len(want))
	}
}

// fill gives every field a value, and returns how many values each key has.
func fill(table reflect.Value, prefix string) map[string]int {
	keys := map[string]int{}
	for i := range table.NumField() {
		field, tag := table.Field(i), prefix+table.Type().Field(i).Tag.Get("toml")
		if field.Kind() == reflect.Pointer {
			field.Set(reflect.New(field.Type().Elem()))
			field = field.Elem()
		}
		switch field.Kind() {
		case reflect.Struct:
			maps.Copy(keys, fill(field, tag+"."))
		case reflect.Slice:
			field.Set(reflect.MakeSlice(field.Type(), 2, 2))
			keys[tag] = 2
		case reflect.Map:
			field.Set(reflect.ValueOf(map[string]any{"a": "b"}))
			keys[tag] = 1
		default:
			keys[tag] = 1
		}
	}
	return keys
}

func TestGlobsForReadersAreThoseOfTheRules(t *testing.T) {
	for _, test := range []struct {
		glob, name string
		want       bool
	}{{"*", "", true}, {"*", "a/b", true}, {"a*", "ba", false}, {"{a,b}c", "bc", true}, {"[", "[", false}, {"${x}", "x", false}} {
		if got := MatchName(test.glob, test.name); got != test.want {
			t.Errorf("%q in %q: %v", test.name, test.glob, got)
		}
	}
	prefix, rest := SplitPath("/data//a/*/b/")
	if prefix != "/data/a" || rest != "*/b" || !MatchBelow(rest, "x/b") || MatchBelow(rest, "x") {
		t.Errorf("split into %q and %q", prefix, rest)
	}
	if p, ok := (Vars{KubeletRoot: "/k/"}).Expand("${kubelet_root}/x"); p != "/k/x" || !ok {
		t.Errorf("expanded %q, %v", p, ok)
	}
	if _, ok := (Vars{}).Expand("${kubelet_root}/x"); ok {
		t.Error("an unknown variable is known")
	}
}
