package show

import (
	"fmt"
	"io"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/words"
	"github.com/mountward/mountward/pkg/rollout"
)

// RolloutSchema names the JSON of Rollout.
const RolloutSchema = "mountward.ready-to-enforce/v1"

// Rollout is what a policy would have refused, and what that says.
type Rollout struct {
	Schema string        `json:"schema"`
	Answer facts.Answer  `json:"ready"`
	From   string        `json:"from"` // the daemon, or a file
	Tally  rollout.Tally `json:"tally"`
	// EnoughTime, in seconds, and Enough containers: less is too little to say.
	EnoughTime int64  `json:"min_time_seconds"`
	Enough     uint64 `json:"min_containers"`
}

// RolloutTable prints how much was seen, what would have been refused by which
// rule, and what that comes to.
func RolloutTable(w io.Writer, r Rollout) error {
	p := &page{w: w}
	t := r.Tally
	p.entry("policy", fmt.Sprintf("%s: mode %s, sha256 %.12s, first seen %s", Word(t.Name), t.Mode, t.Policy, stamp(t.Since)))
	p.entry("watched", fmt.Sprintf("%s in audit, %s, as told by %s", ago(t.Time()), words.Count(t.Containers, "container"), r.From))
	if t.Note != "" {
		p.entry("note", t.Note)
	}
	p.line("")
	if p.err != nil {
		return p.err
	}
	if len(t.Refusals) > 0 {
		rows := newTable(w, "RULE", "TIMES", "CONTAINERS", "FIRST", "LAST", "EXAMPLE")
		for _, f := range t.Refusals {
			rows.row(rolloutRule(f), fmt.Sprint(f.Times), fmt.Sprint(f.Containers), stamp(f.First), stamp(f.Last), example(f.Example))
		}
		if err := rows.flush(); err != nil {
			return err
		}
		if t.More > 0 {
			p.line(fmt.Sprintf("and %d refusals by other rules", t.More))
		}
		p.line("")
	}
	p.line(map[facts.Truth]string{facts.Yes: "ready: ", facts.No: "not ready: ", facts.Unknown: "cannot tell: "}[r.Answer.Truth] + Line(r.Answer.Why))
	if r.Answer.Truth == facts.No {
		p.line("Each is a container that would not start: mend it, allow it by a rule, or mean it. This only advises.")
	}
	return p.err
}

func rolloutRule(r rollout.Refusals) string {
	switch {
	case r.Rule == "" && r.Position == "":
		return "(no single rule)"
	case r.Rule == "":
		return "(default) " + Word(r.Position)
	default:
		return Word(r.Rule) + " " + Word(r.Position)
	}
}

func example(e rollout.Example) string {
	text := fmt.Sprintf("container %s of pod %s/%s", Word(e.Container), Word(e.Namespace), Word(e.Pod))
	if e.Mount != "" {
		text += ", mount " + Word(e.Mount)
	}
	return text
}
