package show

import (
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/mountward/mountward/pkg/doctor"
	"github.com/mountward/mountward/pkg/facts"
)

// The bounds of a block for a person. JSON has all.
const (
	maxEvidence   = 12
	maxText       = 400 // characters of one: an overlay of many layers has thousands
	maxContainers = 20
)

// DoctorTable prints the problems first, each as a block that can be read alone
// and acted on, then in short what is sound, then how many of each.
func DoctorTable(w io.Writer, d doctor.Document) error {
	p := &page{w: w}
	problems, sound := d.Answered(facts.No), d.Answered(facts.Yes)
	for len(problems) > 0 {
		also := 0
		for also+1 < len(problems) && together(problems[0], problems[also+1]) {
			also++
		}
		p.problem(problems[0], problems[1:also+1])
		problems = problems[also+1:]
	}
	if p.err != nil {
		return p.err
	}
	if len(sound) > 0 {
		t := newTable(w, "SOUND", "SUBJECT", "WHERE", "MESSAGE")
		for _, f := range sound {
			t.row(Word(f.Code), subject(f.Subject), orDash(f.Where), orDash(f.Message))
		}
		if err := t.flush(); err != nil {
			return err
		}
		p.line("")
	}
	p.line(doctorCounts(d, len(sound)))
	return p.err
}

// doctorCounts is the last line.
func doctorCounts(d doctor.Document, sound int) string {
	text := fmt.Sprintf("problems: %d, cannot tell: %d, sound: %d", len(d.Answered(facts.No)), len(DoctorMissing(d)), sound)
	if d.Baseline != "" {
		text += fmt.Sprintf(", compared with %s (problems as before: %d)", Word(d.Baseline), d.Kept)
	}
	return text
}

// orDash is Line, and "-" for nothing: a cell of a table is never empty.
func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return Line(s)
}

// page writes lines until one fails.
type page struct {
	w   io.Writer
	err error
}

func (p *page) line(text string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, text+"\n")
	}
}

// field writes a named line of a block. A name of "" goes on with the one
// before. The text is from outside.
func (p *page) field(name, text string) {
	p.line(strings.TrimRight(fmt.Sprintf("  %-10s  %s", name, Line(text)), " "))
}

// together reports whether two problems are one in all but their subjects: the
// kubelet's root and what is below it are mostly on one mount.
func together(a, b doctor.Finding) bool {
	a.Subject, a.Message, a.Effect = b.Subject, b.Message, b.Effect
	return reflect.DeepEqual(a, b)
}

// problem writes a finding, with others that it is together with. Only its first
// line begins at the margin, so that no text of others can look like one.
func (p *page) problem(f doctor.Finding, also []doctor.Finding) {
	p.line("PROBLEM " + Word(f.Code) + " " + subject(f.Subject))
	for i, other := range also {
		name := "also"
		if i > 0 {
			name = ""
		}
		p.field(name, other.Subject)
	}
	for _, part := range []struct{ name, text string }{
		{"what", f.Message}, {"where", f.Where}, {"cause", f.Cause}, {"effect", f.Effect},
	} {
		if part.text != "" {
			p.field(part.name, part.text)
		}
	}
	p.evidence(f.Evidence)
	for i, fix := range f.Fixes {
		p.fix(i, fix)
	}
	p.containers(f.Containers)
	p.line("")
}

func (p *page) evidence(all []doctor.Evidence) {
	for _, e := range all[:min(maxEvidence, len(all))] {
		p.field("seen", short(Line(e.Text), maxText))
		if e.Show != "" {
			p.field("", "$ "+e.Show)
		}
	}
	if more := len(all) - maxEvidence; more > 0 {
		p.field("", fmt.Sprintf("and %d more (-o json has all)", more))
	}
}

// fix writes what to do: a sentence, files, then commands, in the order in
// which they are to be done.
func (p *page) fix(i int, fix doctor.Fix) {
	name := "fix"
	if i > 0 {
		name = "or"
	}
	what := fix.What
	if fix.Persistent {
		what += " (kept over a reboot)"
	}
	p.field(name, what)
	switch {
	case fix.Add:
		p.field("", "add to "+fix.File+", to what it has:")
	case fix.File != "":
		p.field("", "write "+fix.File+":")
	}
	for line := range strings.Lines(fix.Content) { // of the file, or of one that the sentence names
		p.field("", "  "+strings.TrimSuffix(line, "\n"))
	}
	for _, command := range fix.Commands {
		p.field("", "$ "+command)
	}
}

func (p *page) containers(all []string) {
	for i, container := range all[:min(maxContainers, len(all))] {
		name := ""
		if i == 0 {
			name = "containers"
		}
		p.field(name, container)
	}
	if more := len(all) - maxContainers; more > 0 {
		p.field("", fmt.Sprintf("and %d more (-o json has all)", more))
	}
}
