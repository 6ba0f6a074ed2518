package apply

import (
	"errors"
	"fmt"

	"github.com/containerd/nri/pkg/api"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
)

// Request is what Spec works on.
type Request struct {
	Container facts.Container
	Decisions []policy.Decision // one a mount, in the order of Container.Mounts

	// Enforce is false in audit mode: the plan then says what would be done
	// and changes nothing.
	Enforce bool
	// NeverRefuse is set for static pods: they are changed like others.
	NeverRefuse bool
	// Raise and Lower say what happens to a decision that cannot be made true
	// when its rule does not.
	Raise, Lower policy.OnUnmet
	// Namespace leaves what the specification cannot carry to the namespace
	// applier, which judges it at start.
	Namespace bool

	// Hazards returns the hazards of the list as it was decided, with what the
	// policy says about each. Nil: none are looked for.
	Hazards func([]facts.Outcome) []facts.Hazard

	// Table returns the runtime's mount table. It is called only when a mount
	// is to be set to rslave or rshared, the only ones the runtime checks. An
	// error leaves such a mount as it is: not knowing the host never refuses a
	// container.
	Table func() (MountTable, error)
}

// Plan is what is to be done about a container, and why.
type Plan struct {
	Outcomes   []facts.Outcome // one a mount
	Findings   []facts.Finding
	Hazards    []facts.Hazard
	Adjustment *api.ContainerAdjustment // nil when nothing changes
	Refusal    error                    // nil unless the container is refused
}

// Spec turns decisions into an NRI adjustment of the specification's mounts, or
// into a refusal. It keeps these rules: nothing is sent when nothing changes;
// a sent mount has exactly one propagation word, put where the first one stood;
// paths are compared clean and sent raw; destinations that are equal after
// cleaning are never rewritten, nor any mount of a container with a user
// namespace (NRI's message would lose its id mapping) nor a recursively
// read-only one upward.
func Spec(r Request) Plan {
	p := planner{Request: r, destinations: destinations(r.Container.Mounts)}
	plan := Plan{Outcomes: make([]facts.Outcome, len(r.Container.Mounts))}
	for i, m := range r.Container.Mounts {
		plan.Outcomes[i] = p.outcome(m, r.Decisions[i])
	}
	p.coverOptionless(&plan)
	plan.Findings = append(plan.Findings, p.findings...)
	if r.Hazards != nil {
		plan.Hazards = r.Hazards(plan.Outcomes)
		p.denyHazards(&plan)
	}
	if !r.Enforce {
		wouldOnly(plan.Outcomes)
		return plan
	}
	if plan.Refusal = refusal(plan.Outcomes); plan.Refusal == nil {
		plan.Adjustment = adjustment(plan.Outcomes)
	}
	return plan
}

type planner struct {
	Request
	destinations map[string]int
	findings     []facts.Finding
	table        MountTable
	tableErr     error
	tableRead    bool
}

// destinations counts the mounts at each cleaned destination.
func destinations(mounts []facts.Mount) map[string]int {
	n := make(map[string]int, len(mounts))
	for _, m := range mounts {
		n[m.CleanDestination()]++
	}
	return n
}

func (p *planner) outcome(m facts.Mount, d policy.Decision) facts.Outcome {
	o := facts.Outcome{
		Mount: m, Asked: m.Requested(), Action: d.Action, Result: facts.Unchanged,
		Rule: d.Rule, Position: d.Position, Shadow: d.Shadow,
	}
	for _, a := range d.Audited {
		o.Audited = append(o.Audited, a.Rule)
	}
	if d.Unjudged != "" {
		p.findings = append(p.findings, facts.Finding{Code: "rule-not-judged", Mount: m.Destination, Message: d.Unjudged})
	}
	o.Decided = o.Asked
	if !d.Judged {
		o.Decided = facts.Unset
		return o
	}
	switch d.Action {
	case facts.ActionDeny:
		return p.refuse(o, d.Reason)
	case facts.ActionSet:
		return p.set(o, d)
	default:
		return o
	}
}

func (p *planner) set(o facts.Outcome, d policy.Decision) facts.Outcome {
	if o.Asked == d.Propagation && facts.Words(o.Mount.Options) == 1 && hasOption(o.Mount, d.Propagation.Option()) {
		return o
	}
	unmet := onUnmet(d, o.Asked, p.Raise, p.Lower)
	if why := p.deferred(o, d.Propagation); why != "" {
		o.Decided, o.Result, o.Reason = d.Propagation, facts.Deferred, why
		o.Required = unmet == policy.OnUnmetDeny && !p.NeverRefuse
		return o
	}
	why, known := p.unmet(o, d.Propagation)
	if why == "" {
		o.Decided, o.Result, o.Reason = d.Propagation, facts.Applied, d.Reason
		return o
	}
	if !known {
		unmet = policy.OnUnmetLeave
	}
	why = fmt.Sprintf("cannot be %s: %s", d.Propagation.Option(), why)
	if unmet == policy.OnUnmetDeny {
		return p.refuse(o, why)
	}
	o.Result, o.Wanted, o.Reason = facts.Left, d.Propagation, why
	return o
}

// NeverRefused begins the reason of a mount that would be refused if the pod were not
// a static one.
const NeverRefused = "a static pod is never refused"

func (p *planner) refuse(o facts.Outcome, reason string) facts.Outcome {
	o.Result, o.Reason = facts.Refused, reason
	if p.NeverRefuse {
		o.Result = facts.Left
		o.Reason = NeverRefused
		if reason != "" {
			o.Reason += ": " + reason
		}
	}
	return o
}

// errNoTable is the reason a Request without a Table gives.
var errNoTable = errors.New("no mount table of the runtime")

func (p *planner) runtimeTable() (MountTable, error) {
	if !p.tableRead {
		p.tableRead = true
		p.tableErr = errNoTable
		if p.Table != nil {
			p.table, p.tableErr = p.Table()
		}
	}
	return p.table, p.tableErr
}

func hasOption(m facts.Mount, option string) bool {
	for _, o := range m.Options {
		if o == option {
			return true
		}
	}
	return false
}

// wouldOnly turns a plan into what would have been done: in audit mode what is
// asked is what must be true.
func wouldOnly(outcomes []facts.Outcome) {
	for i := range outcomes {
		o := &outcomes[i]
		if o.Result != facts.Unchanged {
			o.Would = true
		}
	}
}
