package show

import (
	"fmt"
	"io"
	"slices"

	"github.com/mountward/mountward/pkg/audit"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/words"
	"github.com/mountward/mountward/pkg/volumes"
)

// DiffSchema names the JSON of Diff.
const DiffSchema = "mountward.diff/v1"

// Diff is what two policies decide about differently.
type Diff struct {
	Schema     string            `json:"schema"`
	Old        audit.Policy      `json:"old"`
	New        audit.Policy      `json:"new"`
	Total      int               `json:"total"`       // containers that were looked at
	Differ     int               `json:"differ"`      // containers that are decided about differently
	CannotTell int               `json:"cannot_tell"` // of the others those of which that cannot be told
	Containers []DiffContainer   `json:"containers"`  // those two kinds
	Unknown    []volumes.Unknown `json:"unknown"`
}

// DiffContainer is one container, with the mounts that are not surely decided about
// alike.
type DiffContainer struct {
	Container audit.Container `json:"container"`
	Mounts    []DiffMount     `json:"mounts"`
}

// DiffMount is one mount. Differs is unknown where a decision rests on what is not
// known.
type DiffMount struct {
	Destination string            `json:"destination"`
	Source      string            `json:"source"`
	Asked       facts.Propagation `json:"asked"`
	Differs     facts.Truth       `json:"differs"`
	Old         DiffDecision      `json:"old"`
	New         DiffDecision      `json:"new"`
}

// DiffDecision is what one policy decides.
type DiffDecision struct {
	Verdict     string            `json:"verdict"` // as that of explain
	Propagation facts.Propagation `json:"propagation"`
	Result      facts.Result      `json:"result"`
	Rule        string            `json:"rule,omitempty"` // "" is the default
	Position    string            `json:"position,omitempty"`
	Reason      string            `json:"reason,omitempty"`
	Doubts      []string          `json:"doubts,omitempty"`
}

// DiffMountOf compares what two policies decide about one mount.
func DiffMountOf(old, changed ExplainedMount) DiffMount {
	m := DiffMount{
		Destination: old.Mount.Destination, Source: old.Mount.Source, Asked: old.Asked,
		Old: diffDecision(old), New: diffDecision(changed),
	}
	switch {
	case m.Old.Verdict == VerdictUnknown || m.New.Verdict == VerdictUnknown:
		m.Differs = facts.Unknown
	case m.Old.Verdict == m.New.Verdict && m.Old.Propagation == m.New.Propagation && m.Old.Result == m.New.Result:
		m.Differs = facts.No
	default:
		m.Differs = facts.Yes
	}
	return m
}

func diffDecision(m ExplainedMount) DiffDecision {
	return DiffDecision{
		Verdict: m.Verdict, Propagation: m.Decided, Result: m.Result, Rule: m.Rule, Position: m.Position,
		Reason: m.Decision.Reason, Doubts: m.Doubts,
	}
}

// Add takes a container with a mount that is not surely decided about alike.
func (d *Diff) Add(c DiffContainer) {
	d.Containers = append(d.Containers, c)
	if slices.ContainsFunc(c.Mounts, func(m DiffMount) bool { return m.Differs == facts.Yes }) {
		d.Differ++
	} else {
		d.CannotTell++
	}
}

// DiffText prints each mount with both decisions, and how many containers differ.
func DiffText(w io.Writer, d Diff) error {
	p := &page{w: w}
	for _, c := range d.Containers {
		p.line(Line(c.Container.String()))
		for _, m := range c.Mounts {
			p.line(fmt.Sprintf("  %s   %s", Word(m.Destination), asked(m.Asked)))
			p.line(fmt.Sprintf("    old  %s", m.Old.text()))
			p.line(fmt.Sprintf("    new  %s", m.New.text()))
		}
	}
	p.line(fmt.Sprintf("%s: %d decided differently, %d cannot be told", words.Count(d.Total, "container"), d.Differ, d.CannotTell))
	if d.Old.Mode != d.New.Mode {
		p.line(fmt.Sprintf("mode: old %s, new %s; what is above is as in enforce", Word(d.Old.Mode), Word(d.New.Mode)))
	}
	return p.err
}

func (d DiffDecision) text() string {
	what := d.Verdict
	switch d.Verdict {
	case VerdictDeny:
		what = "DENY"
	case VerdictSet:
		what = "set " + asked(d.Propagation)
		if d.Result != facts.Applied {
			what += ", " + string(d.Result)
		}
	case VerdictUnknown:
		what = "cannot tell"
	}
	by := "the policy's default"
	if d.Rule != "" {
		by = fmt.Sprintf("rule %q", d.Rule)
	}
	text := what + "   " + by + "  " + Word(d.Position)
	for _, doubt := range d.Doubts {
		text += "; " + Line(doubt)
	}
	return text
}
