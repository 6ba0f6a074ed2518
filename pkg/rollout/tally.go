package rollout

import (
	"slices"
	"time"
)

// Schema names the JSON of a Tally.
const Schema = "mountward.rollout/v1"

// The bounds of a Tally, which lives as long as a policy does.
const (
	maxRules = 64  // with refusals; those of further rules are only counted
	maxSeen  = 256 // containers remembered a rule, to know them again
	maxText  = 256 // bytes of one text from outside
)

// Tally is what was seen under one policy.
type Tally struct {
	Schema string `json:"schema"`
	// Policy is the sha256 of the policy's text, in hex; Name and Mode are those
	// of the policy.
	Policy string    `json:"policy_sha256"`
	Name   string    `json:"policy_name"`
	Mode   string    `json:"mode"`
	Since  time.Time `json:"since"` // the policy came into force
	// Watched is how long a daemon in audit mode was connected to the runtime
	// since then, in seconds.
	Watched int64 `json:"watched_seconds"`
	// Containers is how many creations were judged meanwhile.
	Containers uint64 `json:"containers"`
	// Refusals are those there would have been, by rule, in the order in which
	// the rules came up.
	Refusals []Refusals `json:"refusals"`
	// More is how many there would have been by rules that are not in Refusals.
	More uint64 `json:"more,omitempty"`
	// Note says what is missing here: an earlier count that could not be read.
	Note string `json:"note,omitempty"`
}

// Refusals are those that one rule would have made.
type Refusals struct {
	Rule     string `json:"rule,omitempty"`     // "" for the policy's default
	Position string `json:"position,omitempty"` // FILE:LINE
	Times    uint64 `json:"times"`
	// Containers is how many different ones these are, by pod and name; at least
	// so many where there are very many.
	Containers uint64    `json:"containers"`
	First      time.Time `json:"first"`
	Last       time.Time `json:"last"`
	Example    Example   `json:"example"` // the last

	Seen []string `json:"seen,omitempty"` // the last containers, by a hash
}

// Example is one container that would have been refused.
type Example struct {
	Namespace string `json:"namespace,omitempty"`
	Pod       string `json:"pod,omitempty"`
	Container string `json:"container,omitempty"`
	Mount     string `json:"mount,omitempty"` // destination; "" where it is not about one
	Reason    string `json:"reason,omitempty"`
}

// Time returns Watched as a duration.
func (t Tally) Time() time.Duration { return time.Duration(t.Watched) * time.Second }

// Total returns how many refusals there would have been.
func (t Tally) Total() uint64 {
	n := t.More
	for _, r := range t.Refusals {
		n += r.Times
	}
	return n
}

// Shown returns the Tally without what it needs to know containers again.
func (t Tally) Shown() Tally {
	t.Refusals = slices.Clone(t.Refusals)
	for i := range t.Refusals {
		t.Refusals[i].Seen = nil
	}
	return t
}
