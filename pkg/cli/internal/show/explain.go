package show

import (
	"slices"

	"github.com/mountward/mountward/pkg/apply"
	"github.com/mountward/mountward/pkg/audit"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/manifest"
	"github.com/mountward/mountward/pkg/policy"
	"github.com/mountward/mountward/pkg/volumes"
)

// ExplainSchema names the JSON of Explanation.
const ExplainSchema = "mountward.explain/v1"

// Explanation is what the verb "explain" found out about containers.
type Explanation struct {
	Schema     string            `json:"schema"`
	Policy     audit.Policy      `json:"policy"`
	Node       *Node             `json:"node,omitempty"` // the host that was looked at
	Containers []Explained       `json:"containers"`
	Passed     []string          `json:"passed,omitempty"`   // objects, and why
	Warnings   []string          `json:"warnings,omitempty"` // FILE:LINE: what is perhaps not meant
	Unknown    []volumes.Unknown `json:"unknown"`
}

// The verdicts about a mount and about a container. One that rests on what is not
// known, and would be another if that were different, is unknown.
const (
	VerdictAllow   = "allow"
	VerdictSet     = "set"
	VerdictDeny    = "deny"
	VerdictUnknown = "unknown"
)

// Explained is one container.
type Explained struct {
	From      string           `json:"from"` // "Deployment prod/web", "container of this node", ...
	Kind      string           `json:"kind"`
	Container audit.Container  `json:"container"`
	Static    facts.Answer     `json:"static_pod"`
	Verdict   string           `json:"verdict"`
	Refusal   string           `json:"refusal,omitempty"` // what the pod's owner reads, or in audit mode would
	Mounts    []ExplainedMount `json:"mounts"`
	Omitted   int              `json:"omitted,omitempty"` // mounts that are not listed
	Hazards   []facts.Hazard   `json:"hazards,omitempty"`
	Findings  []facts.Finding  `json:"findings,omitempty"`
	// Before and After are the specification as asked and as NRI's generator
	// makes it; AfterWhy says why it would not, and then After is Before.
	Before   apply.Specification `json:"before"`
	After    apply.Specification `json:"after"`
	AfterWhy string              `json:"after_why,omitempty"`
	Unknown  []facts.Unread      `json:"unknown,omitempty"`
}

// ExplainedMount is one mount.
type ExplainedMount struct {
	facts.Outcome
	Verdict  string          `json:"verdict"`
	Decision policy.Decision `json:"decision"`
	Untried  int             `json:"rules_not_tried,omitempty"`
	// Doubts are what the verdict rests on and is not known.
	Doubts []string `json:"doubts,omitempty"`
	MadeBy string   `json:"made_by,omitempty"` // kubelet or runtime: not by the pod
	Volume string   `json:"volume,omitempty"`  // as the manifest has it
	Note   string   `json:"note,omitempty"`    // what the manifest does not show
	// NotRefused is set where the policy would refuse it and the pod is a static one,
	// which never is.
	NotRefused bool `json:"not_refused,omitempty"`
	// Possible answers whether it can come true on the host.
	Possible facts.Answer `json:"possible"`
}

// Dull reports a mount that a person need not see who did not ask for all: no
// rule is asked about it, or every container has it and nothing is done about it.
func (m ExplainedMount) Dull() bool {
	if !m.Decision.Judged {
		return true
	}
	return m.MadeBy != "" && m.Verdict == VerdictAllow && m.Result == facts.Unchanged && len(m.Noted()) == 0
}

// Visible leaves the dull mounts out, but for those that a hazard names.
func (e Explained) Visible() Explained {
	named := map[string]bool{}
	for _, h := range e.Hazards {
		for _, d := range h.Destinations {
			named[d] = true
		}
	}
	all := e.Mounts
	e.Mounts = slices.DeleteFunc(slices.Clone(all), func(m ExplainedMount) bool { return m.Dull() && !named[m.Mount.Destination] })
	e.Omitted += len(all) - len(e.Mounts)
	return e
}

// sorted reports that the runtime will mount in another order than was asked for.
func (e Explained) sorted() bool {
	return !slices.EqualFunc(e.Before.Mounts, e.After.Mounts, func(a, b facts.Mount) bool { return a.Destination == b.Destination })
}

// fromManifest reports a container that does not exist yet.
func (e Explained) fromManifest() bool {
	return e.Container.ID == "" && e.From != manifest.FromSpec
}
