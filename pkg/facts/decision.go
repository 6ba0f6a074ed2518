package facts

import "slices"

// Action is what a rule does with a mount.
type Action string

// The actions of a policy. ActionAudit records and goes on to the next rule;
// it never is the action of a decision.
const (
	ActionAllow Action = "allow"
	ActionSet   Action = "set"
	ActionDeny  Action = "deny"
	ActionAudit Action = "audit"
)

// Result is what became of the decision about one mount.
type Result string

// The results. The proof at start checks the result, not the wish.
const (
	Unchanged Result = "unchanged" // nothing to do: asked is what is decided
	Applied   Result = "applied"   // the specification carries the decision
	Left      Result = "left"      // could not be made true and was left as asked
	Refused   Result = "refused"   // the container is (in audit mode: would be) refused
	Deferred  Result = "deferred"  // left to the namespace applier
)

// Outcome is what was decided about one mount, why, and what became of it. It
// is kept per container from create to removal: validation, proof and repair
// compare with it and never decide on their own result.
type Outcome struct {
	Mount    Mount       `json:"mount"` // as asked
	Asked    Propagation `json:"asked"`
	Decided  Propagation `json:"decided"`          // see Expected; Unset claims nothing
	Wanted   Propagation `json:"wanted,omitempty"` // of what was left: what the rule sets and could not be made true
	Action   Action      `json:"action"`
	Result   Result      `json:"result"`
	Reason   string      `json:"reason,omitempty"`   // why left or refused, with the cure
	Rule     string      `json:"rule,omitempty"`     // "" for the policy's default
	Position string      `json:"position,omitempty"` // FILE:LINE of the rule
	Audited  []string    `json:"audited,omitempty"`  // names of audit rules that matched
	Shadow   []Shadow    `json:"shadow,omitempty"`   // rules in audit mode that matched
	Would    bool        `json:"would,omitempty"`    // audit mode: what enforce mode would have done
	Required bool        `json:"required,omitempty"` // of what was deferred: the container is refused where it cannot be made true
}

// Shadow is a rule in audit mode that matched: were it in force, it would have
// decided this.
type Shadow struct {
	Rule        string      `json:"rule"`
	Position    string      `json:"position"`
	Reason      string      `json:"reason,omitempty"`
	Action      Action      `json:"action"`
	Propagation Propagation `json:"propagation"` // of ActionSet, else Unset
}

// Noted returns the names of the rules that matched and decided nothing: those
// that audit, and those in audit mode.
func (o Outcome) Noted() []string {
	if len(o.Shadow) == 0 {
		return o.Audited
	}
	names := slices.Clone(o.Audited)
	for _, s := range o.Shadow {
		names = append(names, s.Rule)
	}
	return names
}

// Expected returns what must be true of the mount after start: what was
// decided, or in audit mode what was asked. Unset claims nothing.
func (o Outcome) Expected() Propagation {
	if o.Would {
		return o.Asked
	}
	return o.Decided
}

// Finding is something a person should know about a container or the host,
// with its evidence. It changes nothing by itself.
type Finding struct {
	Code     string `json:"code"`
	Message  string `json:"message"`
	Mount    string `json:"mount,omitempty"` // destination, where it is about one mount
	Evidence string `json:"evidence,omitempty"`
}
