package show

import (
	"strings"

	"github.com/mountward/mountward/pkg/doctor"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/namespaces"
)

// DoctorMissing lists what could not be told, for a person: first what the
// checks asked, then what was not read at all.
func DoctorMissing(d doctor.Document) []namespaces.Unknown {
	var all []namespaces.Unknown
	for _, f := range d.Answered(facts.Unknown) {
		what := f.Code + " " + subject(f.Subject)
		if f.Where != "" {
			what += " in " + f.Where
		}
		all = append(all, namespaces.Unknown{What: what, Why: f.Message})
	}
	return append(all, d.Unknown...)
}

// subject writes what a finding is about: a path as Word does, like the mount
// table that is its evidence, and what is made of words, such as "pod 6f1a" or
// "prod/web main (0123)", with its spaces. A space that is not between two words
// is escaped, so that it cannot look like the end of a column, and a backslash
// is, so that what is escaped can be told from a name that looks like it.
func subject(s string) string {
	if s == "" || strings.HasPrefix(s, "/") {
		return Word(s)
	}
	var b strings.Builder
	for i, word := range strings.Split(s, " ") {
		switch {
		case i == 0:
		case word != "" && b.Len() > 0 && !strings.HasSuffix(b.String(), `\040`):
			b.WriteByte(' ')
		default:
			b.WriteString(`\040`)
		}
		if word != "" {
			b.WriteString(Word(word))
		}
	}
	return b.String()
}
