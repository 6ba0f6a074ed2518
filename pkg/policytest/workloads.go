package policytest

import (
	"fmt"
	"io"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/workloads"
	"github.com/mountward/mountward/pkg/policy"
)

// Effect is what a policy does to one container of a table of workloads.
type Effect struct {
	Workload string   `json:"workload"` // PROJECT / WORKLOAD / CONTAINER
	Refused  bool     `json:"refused"`
	Changes  []Change `json:"changes"`
	// Breaks says why the container no longer does what it is for, "" where it
	// does. It breaks where it is refused, and where one of its mounts lets
	// less through than it asks for: what a driver mounts would stay in it and
	// be lost (Bidirectional), and an agent would not see what is mounted after
	// its start (HostToContainer). That is true of any workload, so no list of
	// kinds is kept. A mount that is given more breaks nothing.
	Breaks string `json:"breaks,omitempty"`
}

// Change is a mount that does not stay as it was asked for.
type Change struct {
	Source      string            `json:"source"`
	Destination string            `json:"destination"`
	Asked       facts.Propagation `json:"asked"`
	Decided     facts.Propagation `json:"decided"` // of a refused one what was asked
	Kind        Kind              `json:"kind"`
	Rule        string            `json:"rule,omitempty"`
	Position    string            `json:"position,omitempty"`
	Reason      string            `json:"reason,omitempty"`
}

// Kind is a kind of change.
type Kind string

// The kinds. A raised mount lets more through than was asked for, a lowered one
// less; Left is one that was to be set and could not be.
const (
	Raised  Kind = "raised"
	Lowered Kind = "lowered"
	Reword  Kind = "respelled" // the same in another word, such as unset as rslave
	Refused Kind = "refused"
	Left    Kind = "left"
)

// Table is a table of workloads that was read.
type Table struct {
	host Host
	all  []workloads.Workload
}

// ParseTable reads a table, for a host; the kubelet's paths in it are moved to
// the host's kubelet root.
func ParseTable(name string, r io.Reader, h Host) (*Table, error) {
	all, err := workloads.Parse(name, r, h.KubeletRoot)
	if err != nil {
		return nil, err
	}
	return &Table{h, all}, nil
}

// Containers is how many containers the table has.
func (t *Table) Containers() int { return len(t.all) }

// Effects returns what the policy does to the containers of the table that do not
// stay as they are, in the order of the table.
func (t *Table) Effects(p *policy.Policy, judge Judge) []Effect {
	var effects []Effect
	for _, w := range t.all {
		if e := effect(w.Name, judge.on(t.host, p, w.Container)); len(e.Changes) > 0 {
			effects = append(effects, e)
		}
	}
	return effects
}

func effect(name string, j Judged) Effect {
	e := Effect{Workload: name}
	lowered := ""
	for _, o := range j.Outcomes {
		c := Change{
			Source: o.Mount.Source, Destination: o.Mount.Destination, Asked: o.Asked, Decided: o.Decided,
			Rule: o.Rule, Position: o.Position, Reason: o.Reason,
		}
		switch {
		case o.Result == facts.Unchanged:
			continue
		case o.Result == facts.Refused:
			c.Kind, e.Refused = Refused, true
		case o.Result == facts.Left:
			c.Kind = Left
		case o.Decided.Reach() > o.Asked.Reach():
			c.Kind = Raised
		case o.Decided.Reach() < o.Asked.Reach():
			c.Kind = Lowered
			if lowered == "" {
				lowered = loss(o)
			}
		default:
			c.Kind = Reword
		}
		e.Changes = append(e.Changes, c)
	}
	e.Breaks = lowered
	if e.Refused {
		e.Breaks = "it is refused"
	}
	return e
}

// loss says what a lowered mount no longer does.
func loss(o facts.Outcome) string {
	if o.Asked == facts.Shared {
		return fmt.Sprintf("what it mounts in %s does not reach the host any more", o.Mount.Destination)
	}
	return fmt.Sprintf("it does not see what is mounted later in %s", o.Mount.Destination)
}
