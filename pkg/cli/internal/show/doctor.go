package show

import (
	"github.com/mountward/mountward/pkg/doctor"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/namespaces"
)

// DoctorMissing lists what could not be told, for a person: first what the
// checks asked, then what was not read at all.
func DoctorMissing(d doctor.Document) []namespaces.Unknown {
	var all []namespaces.Unknown
	for _, f := range d.Answered(facts.Unknown) {
		what := f.Code + " " + Word(f.Subject)
		if f.Where != "" {
			what += " in " + f.Where
		}
		all = append(all, namespaces.Unknown{What: what, Why: f.Message})
	}
	return append(all, d.Unknown...)
}
