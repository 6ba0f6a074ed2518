package policytest

import (
	"github.com/mountward/mountward/pkg/facts"
)

// File is a test file that was found to be right.
type File struct {
	Name      string
	Policy    []Glob // of policies, from the test file's directory
	DropIns   []Glob // of more drop-ins for each of them, from the same
	Host      Host   // of the table of workloads
	Cases     []Case
	Workloads *Workloads // nil where the file names no table
}

// Glob names files.
type Glob struct {
	Text string
	At   string // FILE:LINE:COLUMN
}

// Case is one test: a container on a host, and what is expected.
type Case struct {
	Name      string
	Position  string          // FILE:LINE
	Container facts.Container // as it is asked for; nothing that is computed
	Host      Host
	Expect    []Expect // one a mount
}

// Expect is what is expected of a mount. What is nil is not looked at.
type Expect struct {
	Action      *facts.Action
	Propagation *facts.Propagation // Unset: the mount has no word
	Rule        *string            // "" for the policy's default
	Outcome     *facts.Result
	Audited     *[]string
	Hazards     *[]facts.HazardCode
}

// Any reports whether anything is expected.
func (e Expect) Any() bool { return e != Expect{} }

// Workloads names a table of workloads that the policy must not break.
type Workloads struct {
	Table  string // from the test file's directory
	At     string // FILE:LINE:COLUMN of it
	Breaks []Named
}

// Named is for workloads that break on purpose: PROJECT / WORKLOAD / CONTAINER,
// in which * is any text.
type Named struct {
	Glob     string `json:"name"`
	Position string `json:"position"` // FILE:LINE
}
