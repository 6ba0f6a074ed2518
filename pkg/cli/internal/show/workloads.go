package show

import (
	"fmt"
	"io"

	"github.com/mountward/mountward/pkg/internal/words"
	"github.com/mountward/mountward/pkg/policytest"
)

// WorkloadsSchema names the JSON of Workloads.
const WorkloadsSchema = "mountward.workloads/v1"

// Workloads is what a policy does to a table of workloads.
type Workloads struct {
	Schema     string              `json:"schema"`
	Policy     string              `json:"policy"` // its main file
	SHA256     string              `json:"policy_sha256"`
	Table      string              `json:"table"`
	Containers int                 `json:"containers"`
	Changed    int                 `json:"changed"` // and not broken
	Broken     int                 `json:"broken"`
	Refused    int                 `json:"refused"` // of the broken ones
	Effects    []policytest.Effect `json:"effects"` // on those that do not stay as they were
}

// Count counts the effects.
func (w *Workloads) Count() {
	for _, e := range w.Effects {
		if e.Breaks == "" {
			w.Changed++
		} else {
			w.Broken++
		}
		if e.Refused {
			w.Refused++
		}
	}
}

// WorkloadsTable prints a line a mount that does not stay as it was asked for,
// what breaks because of it, and how many there are.
func WorkloadsTable(w io.Writer, all Workloads) error {
	p := &page{w: w}
	if len(all.Effects) > 0 {
		rows := newTable(w, "WORKLOAD", "SOURCE", "ASKED", "DECIDED", "WHAT", "RULE")
		for _, e := range all.Effects {
			for _, c := range e.Changes {
				decided := option(c.Decided)
				if c.Kind == policytest.Refused {
					decided = "-"
				}
				rule := Line(c.Rule)
				if c.Rule == "" {
					rule = "(default)"
				}
				rows.row(Line(e.Workload), Word(c.Source), option(c.Asked), decided, string(c.Kind), rule+" "+Word(c.Position))
			}
		}
		if err := rows.flush(); err != nil {
			return err
		}
		p.line("")
	}
	for _, e := range all.Effects {
		if e.Breaks != "" {
			p.line(fmt.Sprintf("BREAKS  %s: %s", Line(e.Workload), Line(e.Breaks)))
		}
	}
	p.line(fmt.Sprintf("%s: %d as before, %d changed and whole, %d broken, of them %d refused",
		words.Count(all.Containers, "container"), all.Containers-len(all.Effects), all.Changed, all.Broken, all.Refused))
	return p.err
}
