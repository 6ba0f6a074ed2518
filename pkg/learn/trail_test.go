package learn

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/audit"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/volumes"
)

// record is a line of audit.jsonl.
func record(t testing.TB, schema string, event any) string {
	t.Helper()
	text, err := audit.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`{"schema":%q,%s`, schema, text[1:])
}

func decision(c facts.Container, refused bool, results ...facts.Result) audit.Decision {
	d := audit.Decision{Container: audit.ContainerOf(c), Refused: refused}
	for i, m := range c.Mounts {
		o := facts.Outcome{Mount: m, Asked: m.Requested(), Action: facts.ActionAllow}
		if i < len(results) {
			o.Result = results[i]
		}
		d.Outcomes = append(d.Outcomes, o)
	}
	return d
}

func entry(t testing.TB, record string, fields string) string {
	t.Helper()
	quoted, err := json.Marshal(record)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`{"MOUNTWARD_EVENT":"decision","MOUNTWARD_RECORD":%s,%s}`, quoted, fields)
}

const byRoot = `"_UID":"0","_TRANSPORT":"journal"`

// seen are the mounts of a trail's containers: "pod source propagation".
func seen(t Trail) (all []string) {
	for _, c := range t.Containers {
		for _, m := range c.Mounts {
			if m.Bind() && m.Requested() != facts.Private {
				all = append(all, c.Pod.Name+" "+m.Source+" "+m.Requested().String())
			}
		}
	}
	return all
}

func TestReadTrail(t *testing.T) {
	web := running("prod", "web-0", "app", bind("/srv", "/srv", facts.Slave))
	one := record(t, decisionSchema, decision(web, false))
	bytesOf := func(text string) string {
		var numbers []string
		for _, b := range []byte(text) {
			numbers = append(numbers, fmt.Sprint(b))
		}
		return "[" + strings.Join(numbers, ",") + "]"
	}
	changed := running("prod", "web-1", "app", bind("/srv", "/srv", facts.Slave))
	bad := running("prod", "web-2", "app", bind("/a\xff", "/srv", facts.Slave))
	named := running("prod", `_b64":"x`, "app", bind(`/{"b64":"`, "/srv", facts.Slave))
	for _, test := range []struct {
		name    string
		lines   []string
		want    []string
		unknown int
		changed int
	}{
		{"a file", []string{one}, []string{"web-0 /srv slave"}, 0, 0},
		{"what journalctl prints", []string{entry(t, one, byRoot)}, []string{"web-0 /srv slave"}, 0, 0},
		{"what it prints as bytes", []string{`{"MOUNTWARD_RECORD":` + bytesOf(one) + `,` + byRoot + `}`}, []string{"web-0 /srv slave"}, 0, 0},
		{"what it leaves out for its length", []string{`{"MOUNTWARD_RECORD":null,"MOUNTWARD_EVENT":"decision",` + byRoot + `}`}, nil, 1, 0},
		{"what somebody else wrote to the journal", []string{entry(t, one, `"_UID":"1000","_TRANSPORT":"journal"`)}, nil, 1, 0},
		{"what somebody printed", []string{entry(t, one, `"_UID":"0","_TRANSPORT":"stdout"`)}, nil, 1, 0},
		{"lines of others", []string{`{"MESSAGE":"x","_UID":"1000"}`, `{"schema":"mountward.host/v1","message":"x"}`, ""}, nil, 0, 0},
		{"no JSON", []string{"x", one}, []string{"web-0 /srv slave"}, 1, 0},
		{"a refused one did not run", []string{record(t, decisionSchema, decision(web, true))}, nil, 0, 0},
		{"the last one counts", []string{one, record(t, decisionSchema, decision(web, true))}, nil, 0, 0},
		{"a task, where nothing was decided", []string{record(t, taskSchema, audit.Task{
			Container: audit.ContainerOf(web), Task: volumes.Task{Mounts: []volumes.Mount{{Destination: "/d", Source: "/s", Asked: facts.Shared}}},
		})}, []string{"web-0 /s shared"}, 0, 0},
		{"a task is not needed where something was", []string{one, record(t, taskSchema, audit.Task{Container: audit.ContainerOf(web)})}, []string{"web-0 /srv slave"}, 0, 0},
		{"one that was changed", []string{record(t, decisionSchema, decision(changed, false, "", "", facts.Applied))}, []string{"web-1 /srv slave"}, 0, 1},
		{"text that is not UTF-8", []string{record(t, decisionSchema, decision(bad, false))}, nil, 1, 0},
		{"text that looks as if it were not", []string{record(t, decisionSchema, decision(named, false))}, []string{`_b64":"x /{"b64":" slave`}, 0, 0},
		{"a line that is too long", []string{strings.Repeat("x", maxLine+1), one}, []string{"web-0 /srv slave"}, 1, 0},
		{"no container", []string{`{"schema":"mountward.decision/v1"}`}, nil, 1, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, end := range []string{"", "\n"} {
				trail, err := ReadTrail(strings.NewReader(strings.Join(test.lines, "\n") + end))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(test.want, seen(trail)); diff != "" {
					t.Error(diff)
				}
				if len(trail.Unknown) != test.unknown || trail.Changed != test.changed {
					t.Errorf("unknown %v, changed %d", trail.Unknown, trail.Changed)
				}
			}
		})
	}
}

// Whatever stands in a trail, what is learned of it is a policy that keeps its
// promises.
func FuzzReadTrail(f *testing.F) {
	web := running("prod", "web-0", "app", bind("/srv", "/srv", facts.Slave))
	one := record(f, decisionSchema, decision(web, false))
	f.Add(one)
	f.Add(entry(f, one, byRoot))
	f.Add(strings.ReplaceAll(one, "/srv", `/\u0000\ufffd${x}*"`))
	f.Add(strings.ReplaceAll(one, "web-0", `\"]\n[[rule]]`))
	f.Add(strings.ReplaceAll(one, `"source":"/srv"`, `"source":"/srv","host":{"canonical":"x"}`))
	f.Fuzz(func(t *testing.T, text string) {
		trail, err := ReadTrail(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		learned(t, trail.Containers...)
	})
}
