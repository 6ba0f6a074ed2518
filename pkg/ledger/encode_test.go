package ledger

import (
	"bytes"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
)

// everywhere returns an entry with s in every string of it.
func everywhere(s string) Entry {
	filled := mapStrings(reflect.ValueOf(entry("c1")), func(string) string { return s })
	e := filled.Interface().(Entry)
	e.Container.Pod.Annotations = map[string]string{facts.AnnotationConfigSource: s}
	return normal(clone(e)) // without what is not kept
}

func TestEveryStringSurvives(t *testing.T) {
	for _, s := range []string{
		"", "plain", "ü", "\xff", "a\xc3", "/data/\xe4\n=\x00", "\uFFFD", `\ufffd`, "<&>\u2028",
		mark, mark + "eA==", mark + "no base64!", mark + "\xff", "\x00", "\x00b64",
	} {
		want := everywhere(s)
		data, err := encode(want)
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		got, err := decode(data)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v, -want +got\n%s", s, err, diff)
		}
	}
}

func TestEncodeDoesNotChangeTheEntry(t *testing.T) {
	e := everywhere("\xff")
	if _, err := encode(e); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(everywhere("\xff"), e); diff != "" {
		t.Errorf("-before +after\n%s", diff)
	}
}

func TestAMountIsWrittenOnceAndEveryDifferenceIsKept(t *testing.T) {
	if n := reflect.TypeFor[facts.Mount]().NumField(); n != 10 { // three are not kept
		t.Errorf("facts.Mount has %d fields: does same compare the new one?", n)
	}
	for name, change := range map[string]func(*facts.Mount){
		"nothing":     func(*facts.Mount) {},
		"destination": func(m *facts.Mount) { m.Destination = "/x" },
		"source":      func(m *facts.Mount) { m.Source = "/x" },
		"type":        func(m *facts.Mount) { m.Type = "x" },
		"options":     func(m *facts.Mount) { m.Options = []string{"x"} },
		"host":        func(m *facts.Mount) { m.Host = &facts.HostMount{Canonical: "/x"} },
		"no host":     func(m *facts.Mount) { m.Host = nil },
		"why":         func(m *facts.Mount) { m.HostWhy = "x" },
		"actual":      func(m *facts.Mount) { m.Actual.Root = "/x" },
		"the second":  func(m *facts.Mount) { *m = facts.Mount{Destination: "/proc", Type: "proc", HostWhy: "no path"} },
	} {
		want := entry("c1")
		change(&want.Outcomes[0].Mount)
		data, err := encode(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decode(data)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v, -want +got\n%s", name, err, diff)
		}
		once := bytes.Count(data, []byte(`"destination"`)) == 2
		if want := name == "nothing" || name == "the second"; once != want {
			t.Errorf("%s: each mount written once: %v, want %v\n%s", name, once, want, data)
		}
	}
	for _, index := range []string{"-1", "2", "null"} {
		text := `{"schema":"` + Schema + `","container":{"id":"c1","mounts":[{"destination":"/a"},{"destination":"/b"}]},"outcomes":[{"mount_index":` + index + `}]}`
		if e, err := decode([]byte(text)); err == nil {
			t.Errorf("index %s: %+v, want an error", index, e)
		}
	}
}

// A field of a kind that mapStrings passes over would lose its bytes unseen.
func TestMapStringsKnowsEveryKindInAnEntry(t *testing.T) {
	known := []reflect.Kind{
		reflect.String, reflect.Bool, reflect.Int, reflect.Int64, reflect.Uint8, reflect.Uint32, reflect.Uint64,
	}
	var walk func(t reflect.Type, path string)
	walk = func(typ reflect.Type, path string) {
		switch kind := typ.Kind(); {
		case typ == reflect.TypeFor[time.Time](): // holds a pointer that nobody may copy
		case kind == reflect.Struct:
			for field := range typ.Fields() {
				if !field.IsExported() {
					t.Errorf("%s.%s is not exported", path, field.Name)
				}
				walk(field.Type, path+"."+field.Name)
			}
		case kind == reflect.Map:
			walk(typ.Key(), path+" key")
			walk(typ.Elem(), path+" value")
		case kind == reflect.Pointer || kind == reflect.Slice:
			walk(typ.Elem(), path)
		case !slices.Contains(known, kind):
			t.Errorf("%s is a %v", path, kind)
		}
	}
	walk(reflect.TypeFor[record](), "record")
}

func FuzzEncode(f *testing.F) {
	f.Add("a\xff", "b", "\x00b64:")
	f.Add("\uFFFD", "\\ufffd", "\xed\xa0\x80")
	f.Fuzz(func(t *testing.T, source, label, reason string) {
		want := normal(entry("c1"))
		want.Container.Mounts[0].Source = source
		want.Container.Labels = map[string]string{label: source, "x" + source: label}
		want.Outcomes[0].Reason = reason
		want.Outcomes[0].Rule = label
		data, err := encode(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decode(data)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Fatalf("%v, -want +got\n%s", err, diff)
		}
	})
}

func FuzzDecode(f *testing.F) {
	data, _ := encode(entry("c1"))
	f.Add(data)
	data, _ = encode(everywhere("\xff"))
	f.Add(data)
	f.Add([]byte(`{"schema":"mountward.container/v1","outcomes":[{"mount":{"host":null}}],"container":{"mounts":null}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := decode(data)
		if err != nil {
			return
		}
		again, err := encode(normal(e))
		if err != nil {
			return // a time that JSON can hold in one direction only
		}
		back, err := decode(again)
		if err != nil || e.Schema != Schema || back.Container.ID != e.Container.ID || len(back.Outcomes) != len(e.Outcomes) {
			t.Fatalf("%q reads as %+v (%v), written again as %+v", data, e, err, back)
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	e := entry("c1")
	for range 11 {
		m := e.Container.Mounts[0]
		m.Destination += "x"
		e.Container.Mounts = append(e.Container.Mounts, m)
		e.Outcomes = append(e.Outcomes, facts.Outcome{Mount: m})
	}
	for b.Loop() {
		if _, err := encode(e); err != nil {
			b.Fatal(err)
		}
	}
}

// TestADeferredOutcomeSurvivesTheProcess: what is judged at start is known to the
// daemon that comes after the one which deferred it.
func TestADeferredOutcomeSurvivesTheProcess(t *testing.T) {
	dir := t.TempDir()
	want := entry("c1")
	want.Outcomes = []facts.Outcome{{
		Mount: facts.Mount{Destination: "/data", Source: "/s", Type: "bind"}, Asked: facts.Shared, Decided: facts.Private,
		Action: facts.ActionSet, Result: facts.Deferred, Reason: "user namespace", Rule: "r", Position: "p:1", Required: true,
	}}
	for range 2 {
		l, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Put(want); err != nil {
			t.Fatal(err)
		}
		if l, err = Open(dir); err != nil {
			t.Fatal(err)
		}
		got, ok, err := l.Get("c1")
		if diff := cmp.Diff(want.Outcomes, got.Outcomes); err != nil || !ok || diff != "" {
			t.Errorf("%t, %v, -want +got\n%s", ok, err, diff)
		}
		// At start it is settled.
		want.Outcomes[0].Result, want.Outcomes[0].Required = facts.Applied, false
	}
}
