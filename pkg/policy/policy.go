package policy

import (
	"sync"
	"sync/atomic"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/strict"
)

// MaxRules is the largest number of rules a policy may have. (The largest size of
// all its files together is strict.MaxSize.)
const MaxRules = 10_000

// File is a file of a policy as it was read. Name is what positions are reported
// with.
type File struct {
	Name string
	Data []byte
}

// Policy is a policy that was found to be right. It is not changed after Parse
// and may be used by many goroutines.
type Policy struct {
	Version int
	Mode    Mode
	Default facts.Action // ActionAllow or ActionDeny, for what no rule decides
	Rules   []Rule
	Hazards map[facts.HazardCode]HazardRule // what differs from HazardWarn
	Name    string                          // of the main file
	DropIns []string                        // names of the others, in their order
	SHA256  string                          // over all files, see Sum

	position  string      // of the default
	globs     []*pathGlob // of all rules, by id
	prefixes  []*pathGlob // of sources
	defaultAt strict.Position
	ignore    []Ignored

	expansion atomic.Pointer[expansion]
	spare     sync.Pool       // of *[]boundGlob, for one decision each
	asked     map[string]bool // the keys that rules ask for, as traces name them
}

// Mode says whether decisions are carried out.
type Mode string

// The modes. ModeAudit records what ModeEnforce would do and does nothing.
const (
	ModeAudit   Mode = "audit"
	ModeEnforce Mode = "enforce"
)

// OnUnmet says what happens when a rule's propagation cannot be made true.
// OnUnmetDefault leaves that to the settings.
type OnUnmet string

// The answers to a decision that cannot be made true.
const (
	OnUnmetDefault OnUnmet = ""
	OnUnmetLeave   OnUnmet = "leave"
	OnUnmetDeny    OnUnmet = "deny"
)

// Rule is one rule of a policy.
type Rule struct {
	Name        string
	Reason      string
	Position    string // FILE:LINE
	Action      facts.Action
	Propagation facts.Propagation // of ActionSet
	OnUnmet     OnUnmet           // of ActionSet
	// Audit is set where the rule says mode = "audit": it decides nothing, is
	// recorded with what it would have done, and the rules below it are tried.
	Audit bool

	match   condition
	except  *condition
	written Written
	stored  bool  // asks for logical volumes
	kinds   uint8 // the propagations, as bits, of which match lets one be asked for

	asksHost bool // for host.propagation
}
