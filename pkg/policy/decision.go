package policy

import "github.com/mountward/mountward/pkg/facts"

// Decision is what a policy decides about one mount.
type Decision struct {
	// Judged is false for mounts that are no binds: no rule is asked about
	// them, and Action is ActionAllow.
	Judged      bool              `json:"judged"`
	Action      facts.Action      `json:"action"`      // allow, set or deny
	Propagation facts.Propagation `json:"propagation"` // of set, else Unset
	Rule        string            `json:"rule,omitempty"`
	Position    string            `json:"position,omitempty"` // FILE:LINE, of the default where Rule is ""
	Reason      string            `json:"reason,omitempty"`
	OnUnmet     OnUnmet           `json:"on_unmet,omitempty"`
	Audited     []Audited         `json:"audited,omitempty"`
	Shadow      []facts.Shadow    `json:"shadow,omitempty"`
	// BySource is set where the deciding rule's match names sources: it is
	// about what is mounted, whoever asked for it.
	BySource bool `json:"-"`
	// Unknown is the facts that rules which can decide asked for and that were
	// not known, with why.
	Unknown []string `json:"unknown,omitempty"`
	// Unjudged is the first of Unknown that is about the state of the host; such
	// a rule has no part in the decision, whatever its action.
	Unjudged string `json:"-"`
	Trace    []Step `json:"trace,omitempty"` // the rules tried, in order, where asked for
}

// Audited is a rule with action "audit" that matched.
type Audited struct {
	Rule     string `json:"rule"`
	Position string `json:"position"`
	Reason   string `json:"reason,omitempty"`
	// Stored is set for a rule about logical volumes: it is tried only where the
	// mount's Storage was looked up.
	Stored bool `json:"stored,omitempty"`
	// Unknown is the fact that was not known, with why, where the rule is taken
	// as matched because of that.
	Unknown string `json:"unknown,omitempty"`
}

// Step is one rule that was tried. For a rule that did not match, Selector is
// the first key that failed, for one that could not be judged the first that
// was unknown; one of except is written "except.KEY".
type Step struct {
	Rule     string       `json:"rule"`
	Position string       `json:"position"`
	Action   facts.Action `json:"action"`
	Matched  facts.Truth  `json:"matched"`
	Selector string       `json:"selector,omitempty"`
	Why      string       `json:"why"`
	Audit    bool         `json:"audit,omitempty"` // in audit mode: see Decision.Shadow
}
