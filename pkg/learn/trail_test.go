package learn

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

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
	changes := func(refused bool) string {
		return record(t, decisionSchema, decision(changed, refused, "", "", facts.Applied))
	}
	would := decision(changed, false, "", "", facts.Applied)
	would.Outcomes[2].Would = true
	bad := running("prod", "web-2", "app", bind("/a\xff", "/srv", facts.Slave))
	badOption := running("prod", "web-2", "app", facts.Mount{Source: "/a", Destination: "/a", Type: "bind", Options: []string{"\xff"}})
	named := running("prod", `_b64":"x`, "app", bind(`/{"b64":"`, "/srv", facts.Slave))
	task := func(c facts.Container, sources ...string) string {
		a := audit.Task{Container: audit.ContainerOf(c)}
		for _, source := range sources {
			a.Mounts = append(a.Mounts, volumes.Mount{Destination: "/d", Source: source, Asked: facts.Shared})
		}
		return record(t, taskSchema, a)
	}
	const (
		notRoot = "line 1 of the trail: it has the fields of a record, and was not written to the journal by a process of root"
		leftOut = "line 1 of the trail: journalctl left its MOUNTWARD_RECORD out, which is long: give it --all (-a)"
	)
	for _, test := range []struct {
		name    string
		lines   []string
		want    []string
		unknown []string
		records int
		changed int
	}{
		{"a file", []string{one}, []string{"web-0 /srv slave"}, nil, 1, 0},
		{"what journalctl prints", []string{entry(t, one, byRoot)}, []string{"web-0 /srv slave"}, nil, 1, 0},
		{"what it prints as bytes", []string{`{"MOUNTWARD_RECORD":` + bytesOf(one) + `,` + byRoot + `}`}, []string{"web-0 /srv slave"}, nil, 1, 0},
		{"what it leaves out for its length", []string{`{"MOUNTWARD_RECORD":null,"MOUNTWARD_EVENT":"decision",` + byRoot + `}`}, nil, []string{leftOut}, 0, 0},
		{"what it was not asked for", []string{`{"MOUNTWARD_EVENT":"decision",` + byRoot + `}`}, nil, []string{leftOut}, 0, 0},
		{"a record without bytes", []string{`{"MOUNTWARD_RECORD":[],` + byRoot + `}`}, nil, []string{leftOut}, 0, 0},
		{"a record that is none", []string{`{"MOUNTWARD_RECORD":"{",` + byRoot + `}`}, nil, []string{"line 1 of the trail: its MOUNTWARD_RECORD is no record: "}, 0, 0},
		{"what somebody else wrote to the journal", []string{entry(t, one, `"_UID":"1000","_TRANSPORT":"journal"`)}, nil, []string{notRoot}, 0, 0},
		{"what somebody printed", []string{entry(t, one, `"_UID":"0","_TRANSPORT":"stdout"`)}, nil, []string{notRoot}, 0, 0},
		{"lines of others", []string{`{"MESSAGE":"x","_UID":"1000"}`, `{"schema":"mountward.host/v1","message":"x"}`, ""}, nil, nil, 0, 0},
		{"no JSON", []string{"x", one}, []string{"web-0 /srv slave"}, []string{"line 1 of the trail: it is no record: "}, 1, 0},
		{"a refused one did not run", []string{record(t, decisionSchema, decision(web, true))}, nil, nil, 1, 0},
		{"the last one counts", []string{one, record(t, decisionSchema, decision(web, true))}, nil, nil, 2, 0},
		{"a task, where nothing was decided", []string{task(web, "/s", "/t")}, []string{"web-0 /s shared", "web-0 /t shared"}, nil, 1, 0},
		{"a task is not needed where something was", []string{one, task(web, "/s")}, []string{"web-0 /srv slave"}, nil, 2, 0},
		{"two, by id", []string{changes(false), one}, []string{"web-0 /srv slave", "web-1 /srv slave"}, nil, 2, 1},
		{"one that was changed", []string{changes(false)}, []string{"web-1 /srv slave"}, nil, 1, 1},
		{"one that was changed each time", []string{changes(false), changes(false)}, []string{"web-1 /srv slave"}, nil, 2, 1},
		{"one that was changed, refused, and ran", []string{changes(false), changes(true), task(changed, "/s")}, []string{"web-1 /s shared"}, nil, 3, 0},
		{"one that would have been changed", []string{record(t, decisionSchema, would)}, []string{"web-1 /srv slave"}, nil, 1, 0},
		{"mounts that are not where they belong", []string{`{"schema":"mountward.task/v1","container":{"id":"x","pod":{"name":"p"},"mounts":[{"type":"bind","source":"/x","options":["rshared"]}]}}`}, nil, nil, 1, 0},
		{"text that is not UTF-8", []string{record(t, decisionSchema, decision(bad, false))}, nil, []string{"line 1 of the trail: container prodweb-2app: it has text that is not UTF-8, and a policy is"}, 1, 0},
		{"an option that is not UTF-8", []string{record(t, decisionSchema, decision(badOption, false))}, nil, []string{"line 1 of the trail: it is no record: "}, 0, 0},
		{"text that looks as if it were not", []string{record(t, decisionSchema, decision(named, false))}, []string{`_b64":"x /{"b64":" slave`}, nil, 1, 0},
		{"a line that is too long", []string{strings.Repeat("x", maxLine+1), one}, []string{"web-0 /srv slave"}, []string{"line 1 of the trail: it is longer than 8388608 bytes"}, 1, 0},
		{"a line that is nearly too long", []string{strings.Repeat(" ", maxLine-len(one)-1) + one}, []string{"web-0 /srv slave"}, nil, 1, 0},
		{"no container", []string{`{"schema":"mountward.decision/v1"}`}, nil, []string{"line 1 of the trail: it is about no container"}, 1, 0},
		{"a container without an id", []string{`{"schema":"mountward.decision/v1","container":{"name":"x"}}`}, nil, []string{"line 1 of the trail: it is about no container"}, 1, 0},
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
				var unknown []string
				for _, u := range trail.Unknown {
					text := u.What + ": " + u.Why
					if i := strings.Index(text, " is no record: "); i >= 0 {
						text = text[:i+len(" is no record: ")] // what follows is the decoder's
					}
					unknown = append(unknown, text)
				}
				if diff := cmp.Diff(test.unknown, unknown); diff != "" || trail.Records != test.records || trail.Changed != test.changed {
					t.Errorf("%d records, %d changed, unknown (-want +got)\n%s", trail.Records, trail.Changed, diff)
				}
			}
		})
	}
}

// TestWhatCannotBeReadOfATrailIsBounded, and so is how many containers are kept.
func TestWhatCannotBeReadOfATrailIsBounded(t *testing.T) {
	for _, test := range []struct {
		lines, listed int
		last          string
	}{
		{200, 200, "line 200 of the trail"},
		{201, 201, "1 more lines of the trail"},
		{250, 201, "50 more lines of the trail"},
	} {
		trail, err := ReadTrail(strings.NewReader(strings.Repeat("x\n", test.lines)))
		if err != nil {
			t.Fatal(err)
		}
		if n := len(trail.Unknown); n != test.listed || trail.Unknown[n-1].What != test.last || trail.Unknown[n-1].Why == "" {
			t.Errorf("%d lines: %d listed, last %v", test.lines, n, trail.Unknown[n-1])
		}
	}
	r := newReader(2)
	for i, schema := range []string{decisionSchema, taskSchema, decisionSchema} {
		c := running("n", fmt.Sprint(i), "c")
		want := ""
		if i == 2 {
			want = "there are more than 2 containers"
		}
		if why := r.line([]byte(record(t, schema, decision(c, false)))); why != want {
			t.Errorf("container %d: %q, want %q", i, why, want)
		}
	}
}

// TestATrailThatCannotBeReadIsAnError, and not what was read of it.
func TestATrailThatCannotBeReadIsAnError(t *testing.T) {
	web := running("prod", "web-0", "app", bind("/srv", "/srv", facts.Slave))
	text := record(t, decisionSchema, decision(web, false)) + "\n"
	trail, err := ReadTrail(io.MultiReader(strings.NewReader(text), iotest.ErrReader(syscall.EIO)))
	if !errors.Is(err, syscall.EIO) || trail.Containers != nil {
		t.Errorf("%v, %v", trail, err)
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
