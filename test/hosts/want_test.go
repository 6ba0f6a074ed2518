package hosts_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mountward/mountward/pkg/doctor"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/namespaces"
)

var tell = flag.Bool("tell", false, "print what doctor says of each node")

// want is what doctor must say of a node. Every problem, and everything that
// cannot be told, has to be named; of what is sound, what matters.
type want struct {
	Exit        int
	KubeletRoot string   // the setting, if there is one
	Require     []string // the setting require_shared
	Closed      []int    // processes whose files cannot be opened
	Finding     []wanted
	Unknown     []string // in what could not be read
	Not         []string // codes that no finding may have
}

// wanted is one finding. Each text is a part of what is there.
type wanted struct {
	Code, Answer           string
	Subject                string   // all of it
	Subjects               []string // or several findings that differ in it
	Where                  string
	Message, Cause, Effect string
	Evidence, Fix          []string
	Containers             []string
}

func wantOf(t *testing.T, a *txtar.Archive) want {
	t.Helper()
	for _, f := range a.Files {
		if f.Name != "want.toml" {
			continue
		}
		var w want
		must(t, toml.NewDecoder(bytes.NewReader(f.Data)).DisallowUnknownFields().Decode(&w))
		var all []wanted
		for _, one := range w.Finding {
			for _, subject := range append(one.Subjects, one.Subject) {
				if subject == "" && len(one.Subjects) > 0 {
					continue
				}
				each := one
				each.Subject, each.Subjects = subject, nil
				all = append(all, each)
			}
		}
		w.Finding = all
		return w
	}
	t.Fatal("no want.toml")
	return want{}
}

// compare holds a report to what is wanted.
func (w want) compare(t *testing.T, d doctor.Document) {
	t.Helper()
	if *tell {
		text, _ := json.MarshalIndent(d, "", "  ") // text alone is in it
		t.Logf("%s", text)
	}
	if got := exit(d.Answer()); got != w.Exit {
		t.Errorf("exit %d, want %d", got, w.Exit)
	}
	for _, one := range w.Finding {
		if !slices.ContainsFunc(d.Findings, one.matches) {
			t.Errorf("not there: %+v\n%s", one, one.nearest(d.Findings))
		}
	}
	for _, f := range d.Findings {
		if slices.Contains(w.Not, f.Code) {
			t.Errorf("must not be there: %s", summary(f))
		}
		expected := slices.ContainsFunc(w.Finding, func(one wanted) bool { return one.matches(f) })
		if f.Answer != facts.Yes && !expected {
			t.Errorf("surplus: %s", summary(f))
		}
		sound(t, f)
	}
	for _, u := range d.Unknown {
		if !slices.ContainsFunc(w.Unknown, func(part string) bool { return strings.Contains(u.What+": "+u.Why, part) }) {
			t.Errorf("surplus unknown: %s: %s", u.What, u.Why)
		}
	}
	for _, part := range w.Unknown {
		if !strings.Contains(fmt.Sprintf("%+v", d.Unknown), part) {
			t.Errorf("not unknown: %s", part)
		}
	}
}

// sound holds a finding to what all have: evidence of an answer, and of a
// problem a way out.
func sound(t *testing.T, f doctor.Finding) {
	t.Helper()
	if f.Code == "" || f.Subject == "" || f.Message == "" {
		t.Errorf("a finding without code, subject or message: %+v", f)
	}
	if f.Answer != facts.Unknown && (len(f.Evidence) == 0 || f.Evidence[0].Text == "") {
		t.Errorf("no evidence: %s", summary(f))
	}
	if f.Answer == facts.No && len(f.Fixes) == 0 {
		t.Errorf("no fix: %s", summary(f))
	}
}

func exit(answer facts.Truth) int {
	return map[facts.Truth]int{facts.Yes: 0, facts.No: 1, facts.Unknown: 2}[answer]
}

func (one wanted) matches(f doctor.Finding) bool { return one.missing(f) == "" }

// missing is what of a wanted finding is not in a finding.
func (one wanted) missing(f doctor.Finding) string {
	switch {
	case one.Code != f.Code:
		return "code"
	case one.Answer != f.Answer.String():
		return "answer"
	case one.Subject != "" && one.Subject != f.Subject:
		return "subject"
	}
	for _, part := range []struct{ name, want, got string }{
		{"where", one.Where, f.Where},
		{"message", one.Message, f.Message},
		{"cause", one.Cause, f.Cause},
		{"effect", one.Effect, f.Effect},
	} {
		if !strings.Contains(part.got, part.want) {
			return part.name
		}
	}
	var evidence, fixes strings.Builder
	for _, e := range f.Evidence {
		evidence.WriteString(e.Text + "\n" + e.Show + "\n")
	}
	for _, fix := range f.Fixes {
		fixes.WriteString(strings.Join(append(fix.Commands, fix.What, fix.File, fix.Content), "\n") + "\n")
	}
	for _, list := range []struct {
		name string
		want []string
		got  string
	}{{"evidence", one.Evidence, evidence.String()}, {"fix", one.Fix, fixes.String()}, {"containers", one.Containers, strings.Join(f.Containers, "\n")}} {
		for _, part := range list.want {
			if !strings.Contains(list.got, part) {
				return list.name + " " + part
			}
		}
	}
	return ""
}

// nearest tells of the findings with the same code what they lack.
func (one wanted) nearest(all []doctor.Finding) string {
	var b strings.Builder
	for _, f := range all {
		if f.Code == one.Code {
			fmt.Fprintf(&b, "  no %s in: %s\n", one.missing(f), summary(f))
		}
	}
	return b.String()
}

func summary(f doctor.Finding) string {
	return fmt.Sprintf("%s %s %q where %q\n    message  %s\n    cause    %s\n    effect   %s\n    evidence %+v\n    fixes    %+v\n    containers %v",
		f.Code, f.Answer, f.Subject, f.Where, f.Message, f.Cause, f.Effect, f.Evidence, f.Fixes, f.Containers)
}

// baselineOf is a report as --baseline reads it.
func baselineOf(t *testing.T, d doctor.Document) doctor.Baseline {
	t.Helper()
	text, err := json.Marshal(map[string]any{
		"schema": d.Schema, "places": d.Places, "containers": d.Containers,
		"findings": append([]doctor.Finding{}, d.Findings...), "unknown": append([]namespaces.Unknown{}, d.Unknown...),
	})
	must(t, err)
	b, err := doctor.ReadBaseline(text)
	must(t, err)
	return b
}
