package audit

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mountward/mountward/pkg/facts"
)

type shape struct {
	Text     string             `json:"text"`
	Pointer  *string            `json:"pointer,omitempty"`
	List     []string           `json:"list"`
	Map      map[string]string  `json:"map"`
	Any      any                `json:"any,omitempty"`
	Device   facts.DeviceNumber `json:"device,omitzero"`
	Word     facts.Propagation  `json:"word,omitempty"`
	State    facts.MountState   `json:"state,omitzero"`
	Bytes    []byte             `json:"bytes,omitempty"`
	When     time.Time          `json:"when,omitzero"`
	Flag     bool               `json:"flag,omitempty"`
	Number   float64            `json:"number,omitempty"`
	Hidden   string             `json:"-"`
	Unnamed  uint8
	internal string
	Embedded
}

type Embedded struct {
	Inner string `json:"inner,omitempty"`
}

func TestMarshal(t *testing.T) {
	t.Parallel()
	bad := "\xff/\n"
	tests := map[string]struct {
		in   any
		want string
	}{
		"zero": {shape{Hidden: "x", internal: "y"}, `{"text":"","list":[],"map":{},"Unnamed":0}`},
		"text": {shape{Text: "a\"b\\c\n\t\x00\u2028\U000e0001 ü <&>"}, `{"text":"a\"b\\c\n\t\u0000\u2028\udb40\udc01 ü <&>","list":[],"map":{},"Unnamed":0}`},
		"members that are not UTF-8": {
			shape{Text: bad, Pointer: &bad, Any: bad, Embedded: Embedded{bad}},
			`{"text_b64":"/y8K","pointer_b64":"/y8K","list":[],"map":{},"any_b64":"/y8K","Unnamed":0,"inner_b64":"/y8K"}`,
		},
		"elements that are not UTF-8": {
			[]string{"ok", bad}, `["ok",{"b64":"/y8K"}]`,
		},
		"keys and values that are not UTF-8": {
			map[string]string{bad: bad, "ok": "ok", "b64:": "x"},
			`{"b64:/y8K":{"b64":"/y8K"},"b64:YjY0Og==":"x","ok":"ok"}`,
		},
		"text marshalers": {
			shape{Device: facts.DeviceNumber{Major: 253, Minor: 1}, Word: facts.Slave, When: noon()},
			`{"text":"","list":[],"map":{},"device":"253:1","word":"slave","When":"","Unnamed":0}`,
		},
		"numbers, bytes, structs": {
			shape{State: facts.MountState{Peer: 3}, Bytes: []byte{0, 1}, Flag: true, Number: 1.5, Unnamed: 7},
			`{"text":"","list":[],"map":{},"state":{"peer":3},"bytes":"AAE=","flag":true,"number":1.5,"Unnamed":7}`,
		},
		"nil": {nil, `null`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := strings.Replace(test.want, `"When":""`, `"when":"2026-03-01T12:00:00Z"`, 1)
			got, err := Marshal(test.in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, string(got)); diff != "" {
				t.Errorf("JSON (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMarshalRefusesWhatJSONCannotHold(t *testing.T) {
	t.Parallel()
	type loop struct{ Next *loop }
	endless := &loop{}
	endless.Next = endless
	for name, v := range map[string]any{
		"a function":    func() {},
		"a member":      struct{ C chan int }{},
		"not a number":  math.NaN(),
		"an endless":    endless,
		"a struct key":  map[struct{}]int{{}: 1},
		"an number key": map[int]int{1: 1},
	} {
		if got, err := Marshal(v); err == nil {
			t.Errorf("Marshal of %s = %s, want an error", name, got)
		}
	}
}

// Text that is UTF-8 reads back with encoding/json into the same event: nobody
// needs to know our rules until a name is not UTF-8.
func TestMarshalReadsBackWithTheStandardLibrary(t *testing.T) {
	t.Parallel()
	want := Decision{
		Container: testContainer(), Policy: testPolicy(), Refused: true, Owner: "no",
		Outcomes: []facts.Outcome{refusedOutcome(), appliedOutcome()},
		Findings: []facts.Finding{{Code: "a", Message: "b"}}, Repeated: 3,
	}
	data, err := Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Decision
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
}

// The rules of the package comment are unambiguous only while no member of an
// event has a name that another one's bytes would take, or one of the header's.
func TestEventsHaveNoAmbiguousMembers(t *testing.T) {
	t.Parallel()
	events := []Event{Decision{}, Drift{}, Task{}, Leftover{}, Crash{}, Hazard{}, Emergency{}, Missed{}, FirstStart{}, Host{}, Connection{}, PolicyLoaded{}, PolicyRejected{}}
	for _, event := range events {
		top := memberNames(reflect.TypeOf(event), nil)
		for _, name := range memberNames(reflect.TypeFor[header](), nil) {
			if contains(top, name) {
				t.Errorf("%T has the header's member %q", event, name)
			}
		}
		walk(reflect.TypeOf(event), map[reflect.Type]bool{}, func(names []string) {
			seen := map[string]bool{}
			for _, name := range names {
				if seen[name] || strings.HasSuffix(name, "_b64") || name == "b64" {
					t.Errorf("%T has a member %q twice, or one that ends in _b64", event, name)
				}
				seen[name] = true
			}
		})
	}
}

func memberNames(typ reflect.Type, names []string) []string {
	for i := range typ.NumField() {
		field := typ.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case field.Anonymous && name == "":
			names = memberNames(field.Type, names)
		default:
			names = append(names, name)
		}
	}
	return names
}

func walk(typ reflect.Type, seen map[reflect.Type]bool, visit func([]string)) {
	switch typ.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		walk(typ.Elem(), seen, visit)
	case reflect.Struct:
		if seen[typ] || typ == reflect.TypeFor[time.Time]() || typ == reflect.TypeFor[facts.DeviceNumber]() {
			return
		}
		seen[typ] = true
		visit(memberNames(typ, nil))
		for i := range typ.NumField() {
			walk(typ.Field(i).Type, seen, visit)
		}
	default:
	}
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}
