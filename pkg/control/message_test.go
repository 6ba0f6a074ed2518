package control

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestARequestIsUnderstoodWholeOrRefused: and the refusal says what to do.
func TestARequestIsUnderstoodWholeOrRefused(t *testing.T) {
	t.Parallel()
	const v1 = `"schema":"mountward.request/v1"`
	for name, test := range map[string]struct {
		line string
		want Request
		err  string // part of the error
	}{
		"status":                 {`{` + v1 + `,"verb":"status"}`, Request{Schema: RequestSchema, Verb: VerbStatus}, ""},
		"emergency":              {`{` + v1 + `,"verb":"emergency","for":"30m"}`, Request{Schema: RequestSchema, Verb: VerbEmergency, For: "30m"}, ""},
		"end":                    {`{` + v1 + `,"verb":"emergency","end":true}`, Request{Schema: RequestSchema, Verb: VerbEmergency, End: true}, ""},
		"reload":                 {`{` + v1 + `,"verb":"reload"}`, Request{Schema: RequestSchema, Verb: VerbReload}, ""},
		"reload for a time":      {`{` + v1 + `,"verb":"reload","for":"1m"}`, Request{}, "takes no duration"},
		"nothing":                {``, Request{}, "EOF"},
		"garbage":                {"\x00\xff{{", Request{}, "invalid character"},
		"no schema":              {`{"verb":"status"}`, Request{}, "speaks mountward.request/v1"},
		"a newer form":           {`{"schema":"mountward.request/v2","verb":"status"}`, Request{}, "use the command line of its version"},
		"a newer form, all else": {`{"schema":"mountward.request/v2","verb":["status"],"x":1}`, Request{}, "use the command line of its version"},
		"an unknown member":      {`{` + v1 + `,"verb":"emergency","for":"1m","namespace":"prod"}`, Request{}, `unknown field "namespace"`},
		"an unknown verb":        {`{` + v1 + `,"verb":"restart"}`, Request{}, "use the command line of its version"},
		"two":                    {`{` + v1 + `,"verb":"status"}{` + v1 + `,"verb":"status"}`, Request{}, "more than one"},
		"status for a time":      {`{` + v1 + `,"verb":"status","for":"1m"}`, Request{}, "takes no duration"},
		"for ever":               {`{` + v1 + `,"verb":"emergency","for":"25h"}`, Request{}, "want 1s to 24h0m0s"},
		"backwards":              {`{` + v1 + `,"verb":"emergency","for":"-1m"}`, Request{}, "want 1s to 24h0m0s"},
		"no time":                {`{` + v1 + `,"verb":"emergency"}`, Request{}, "want one such as 30m"},
		"begin and end":          {`{` + v1 + `,"verb":"emergency","for":"1m","end":true}`, Request{}, "not both"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := parseRequest([]byte(test.line))
			switch {
			case test.err == "" && err != nil:
				t.Fatal(err)
			case test.err == "":
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("request (-want +got):\n%s", diff)
				}
			case err == nil || !strings.Contains(err.Error(), test.err) || strings.Contains(err.Error(), "\n"):
				t.Errorf("error %v, want one line with %q", err, test.err)
			}
		})
	}
}

// FuzzRequest: what is taken is one of the known requests, within its bounds, and
// is the same when it is written and read again.
func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"schema":"mountward.request/v1","verb":"status"}`))
	f.Add([]byte(`{"schema":"mountward.request/v1","verb":"emergency","for":"1h30m"}`))
	f.Add([]byte(`{"schema":"mountward.request/v1","verb":"emergency","end":true}`))
	f.Add([]byte(`{"schema":"mountward.request/v9"}`))
	f.Add([]byte("\n{}\x00"))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := parseRequest(line)
		if err != nil {
			return
		}
		d, err := r.Duration()
		switch {
		case r.Schema != RequestSchema:
			t.Errorf("schema %q", r.Schema)
		case (r.Verb == VerbStatus || r.Verb == VerbReload) && r.For == "" && !r.End:
		case r.Verb != VerbEmergency || err != nil:
			t.Errorf("%+v: %v", r, err)
		case r.End && d != 0, !r.End && (d < MinEmergency || d > MaxEmergency):
			t.Errorf("%+v lasts %s", r, d)
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := parseRequest(text); err != nil || again != r {
			t.Errorf("%+v is read again as %+v, %v", r, again, err)
		}
	})
}

// TestAResponseOfAnotherVersion: news are no mistake, another form is one that
// says which binary to use, and the daemon's own error comes first.
func TestAResponseOfAnotherVersion(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ line, err string }{
		"ours":                {`{"schema":"mountward.response/v1","version":"1.0","status":{"schema":"mountward.status/v1"}}`, ""},
		"with news":           {`{"schema":"mountward.response/v1","version":"1.9","new":{"a":[1]},"status":{"schema":"mountward.status/v1","new":1}}`, ""},
		"another form":        {`{"schema":"mountward.response/v2","version":"2.0","status":[]}`, "its answer is not understood"},
		"another form, named": {`{"schema":"mountward.response/v2","version":"2.0"}`, `mountward "2.0" and answers in "mountward.response/v2"`},
		"another status":      {`{"schema":"mountward.response/v1","version":"2.0","status":{"schema":"mountward.status/v2"}}`, "use the daemon's own binary"},
		"its error":           {`{"schema":"mountward.response/v7","version":"2.0","error":"this daemon speaks v7"}`, "this daemon speaks v7"},
		"garbage":             {"\xff", "not understood"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := parseResponse([]byte(test.line))
			if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("error %v, want %q", err, test.err)
			}
		})
	}
}

// FuzzResponse: what is taken is of our form.
func FuzzResponse(f *testing.F) {
	f.Add([]byte(`{"schema":"mountward.response/v1","version":"1.0","status":{"schema":"mountward.status/v1","time":"2026-01-02T03:04:05Z"}}`))
	f.Add([]byte(`{"schema":"mountward.response/v1","busy":true,"error":"x"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := parseResponse(line)
		if err == nil && !r.Busy && (r.Schema != ResponseSchema || r.Error != "" || r.Status != nil && r.Status.Schema != "" && r.Status.Schema != StatusSchema) {
			t.Errorf("%+v", r)
		}
	})
}

// TestJudge: what an administrator has to look at, by the line it stands in.
func TestJudge(t *testing.T) {
	t.Parallel()
	healthy := func() Status {
		return Status{Connection: Connection{Connected: true, Synchronized: true}}
	}
	for name, test := range map[string]struct {
		change func(*Status)
		want   []string
		ready  bool
	}{
		"healthy":          {func(*Status) {}, nil, true},
		"not connected":    {func(s *Status) { s.Connection = Connection{Why: "x"} }, []string{"connection"}, false},
		"not synchronized": {func(s *Status) { s.Connection.Synchronized = false }, []string{"connection"}, false},
		"aside":            {func(s *Status) { s.Aside = &Aside{Reason: "x"} }, []string{"aside"}, true},
		"a bad policy":     {func(s *Status) { s.Policy.Wrong = []string{"p:1:1: x"} }, []string{"policy"}, true},
		"an open runtime": {func(s *Status) {
			s.FailClosed = []Part{{Name: PartRequired}}
		}, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := healthy()
			test.change(&s)
			s.Judge()
			var got []string
			for _, p := range s.Problems {
				got = append(got, p.Line)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			if s.Healthy() != (len(test.want) == 0) || s.Ready() != test.ready {
				t.Errorf("healthy %t, ready %t", s.Healthy(), s.Ready())
			}
		})
	}
}

var errTest = errors.New("no")

// fake is a daemon that does nothing.
type fake struct{ asked chan time.Duration }

func (f fake) Status() Status { return Status{Schema: StatusSchema, PID: 7} }

// Reload takes until ctx ends where nobody waits for what is asked.
func (f fake) Reload(ctx context.Context) (Policy, error) {
	if f.asked != nil {
		return Policy{Name: "p", Wrong: []string{"p:1:1: x"}}, nil
	}
	<-ctx.Done()
	return Policy{}, errTest
}

func (f fake) Emergency(d time.Duration) (string, error) {
	if d == time.Second {
		return "", errTest
	}
	if d == 2*time.Second {
		panic("boom")
	}
	f.asked <- d
	return "careful", nil
}
