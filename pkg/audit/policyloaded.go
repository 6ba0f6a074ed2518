package audit

import (
	"fmt"

	"github.com/mountward/mountward/pkg/internal/words"
)

// Where a policy in force came from.
const (
	FromFile     = "file"
	FromBuiltIn  = "built-in"
	FromLastGood = "last-good" // the copy of the last policy that was good
	FromNothing  = "none"      // no policy: every container is refused
)

// PolicyLoaded is recorded when a policy comes into force.
type PolicyLoaded struct {
	Policy   Policy   `json:"policy"`
	Source   string   `json:"source"`  // FromFile, FromBuiltIn or FromLastGood
	Default  string   `json:"default"` // action where no rule decides
	Rules    int      `json:"rules"`
	DropIns  []string `json:"drop_ins,omitempty"`          // names of the files beside the main one, in their order
	Problems []string `json:"settings_problems,omitempty"` // of mountward.toml, each with file:line:col
}

func (p PolicyLoaded) describe() description {
	desc := description{kind: kindPolicyLoaded(), priority: prioNotice}
	desc.fields.policy(p.Policy)
	desc.fields.each("MOUNTWARD_DROP_IN", p.DropIns)
	desc.fields.each("MOUNTWARD_ERROR", p.Problems)

	text := fmt.Sprintf("policy %s in force", word(p.Policy.Name))
	if p.Source == FromLastGood {
		text = fmt.Sprintf("last good copy of policy %s in force", word(p.Policy.Name))
		desc.priority = prioWarning
	}
	text += fmt.Sprintf(": mode %s, default %s, %s", p.Policy.Mode, p.Default, words.Count(p.Rules, "rule"))
	if n := len(p.DropIns); n > 0 {
		text += fmt.Sprintf(" in %d files", 1+n)
	}
	if p.Policy.SHA256 != "" {
		text += ", sha256 " + short(p.Policy.SHA256)
	}
	if n := len(p.Problems); n > 0 {
		text += fmt.Sprintf("; %s with the settings: %s", words.Count(n, "problem"), p.Problems[0])
		desc.priority = prioWarning
	}
	desc.message = text
	return desc
}
