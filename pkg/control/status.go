package control

import (
	"time"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/rollout"
)

// StatusSchema names the JSON of a Status.
const StatusSchema = "mountward.status/v1"

// Status is what a daemon tells of itself.
type Status struct {
	Schema  string    `json:"schema"`
	Time    time.Time `json:"time"` // of the daemon, when it answered
	Version string    `json:"version"`
	PID     int       `json:"pid"` // as the daemon itself counts
	Started time.Time `json:"started"`
	// Launched: containerd launched it, else it is a service.
	Launched   bool           `json:"launched"`
	Connection Connection     `json:"connection"`
	Policy     Policy         `json:"policy"`
	Aside      *Aside         `json:"aside,omitempty"` // nil: it takes part
	FailClosed []Part         `json:"fail_closed"`
	Counters   Counters       `json:"counters"`
	Last       *time.Time     `json:"last_decision,omitempty"` // nil: none yet
	Journal    []string       `json:"destinations"`            // of the trail
	Rollout    *rollout.Tally `json:"rollout,omitempty"`
	Problems   []Problem      `json:"problems"` // none: healthy
}

// Connection is the connection to the runtime.
type Connection struct {
	Connected bool `json:"connected"`
	// Synchronized: it takes part in every request from then on.
	Synchronized bool      `json:"synchronized"`
	Since        time.Time `json:"since"`         // connected, or not
	Why          string    `json:"why,omitempty"` // not

	Runtime string `json:"runtime,omitempty"`
	Version string `json:"runtime_version,omitempty"`
	NRI     string `json:"nri_version,omitempty"`
	PID     int    `json:"runtime_pid,omitempty"`
	// RequestTimeout is what the runtime gives a plugin for an answer, and
	// Deadline what the daemon takes of it, in milliseconds.
	RequestTimeout int64 `json:"request_timeout_ms,omitempty"`
	Deadline       int64 `json:"deadline_ms,omitempty"`
}

// Policy is what decides.
type Policy struct {
	Name    string `json:"name"`
	SHA256  string `json:"sha256,omitempty"`
	Source  string `json:"source"` // of audit: FromFile, FromLastGood, FromBuiltIn, FromNothing
	Mode    string `json:"mode"`
	Default string `json:"default"`
	Rules   int    `json:"rules"`
	Files   int    `json:"files,omitempty"` // the main one and its drop-ins
	// Configured is the file that should decide, and Wrong why it does not, each
	// mistake with its place.
	Configured string   `json:"configured"`
	Wrong      []string `json:"wrong,omitempty"`
}

// Aside says that the daemon answers without change for a time.
type Aside struct {
	Reason string     `json:"reason"`
	Until  *time.Time `json:"until,omitempty"` // nil: no end is set
}

// Part is one of the things that make the node fail closed: that no container
// starts unjudged while the daemon is late, crashes or is away. Each is in force,
// not, or that cannot be told.
type Part struct {
	Name string `json:"name"`
	facts.Answer
}

// The names of the parts.
const (
	PartDeadline      = "own_deadline"
	PartValidator     = "validator"
	PartRequired      = "required_plugins"
	PartFailurePolicy = "failure_policy"
	PartToleration    = "no_toleration"
	PartNamespace     = "namespace_applier"
)

// Counters count since the daemon started.
type Counters struct {
	Decisions uint64 `json:"decisions"`
	Refusals  uint64 `json:"refusals"`
	Would     uint64 `json:"would_refusals"` // audit mode
	Missed    uint64 `json:"missed"`         // containers created while it was away
	Late      uint64 `json:"late"`           // answers at the deadline
	Panics    uint64 `json:"panics"`
	Sent      uint64 `json:"records_sent"`
	Lost      uint64 `json:"records_lost"`
	Spooled   uint64 `json:"records_spooled"`
	// Losing: the last record was lost to one destination at least, or one does not
	// answer.
	Losing bool `json:"records_losing,omitempty"`
}

// Problem is why the daemon is not healthy.
type Problem struct {
	Line string `json:"line"` // of the table: "connection", "policy", ...
	Why  string `json:"why"`
}

// Judge fills in Problems: what an administrator has to look at now. That the
// runtime cannot hold a part of failing closed is no problem of the daemon's.
func (s *Status) Judge() {
	s.Problems = []Problem{}
	add := func(line, why string) { s.Problems = append(s.Problems, Problem{line, why}) }
	switch c := s.Connection; {
	case !c.Connected:
		add("connection", "not connected to the runtime: "+c.Why)
	case !c.Synchronized:
		add("connection", "the runtime has not synchronized us yet: it sends no requests")
	}
	if s.Aside != nil {
		add("aside", "containers are created unjudged: "+s.Aside.Reason)
	}
	if s.Counters.Losing {
		add("records", "the trail loses records, or where it goes does not answer; the log says where and why")
	}
	if len(s.Policy.Wrong) > 0 {
		add("policy", s.Policy.Configured+" is not in force: "+s.Policy.Wrong[0])
	}
}

// Healthy reports whether nothing is wrong.
func (s *Status) Healthy() bool { return len(s.Problems) == 0 }

// Ready reports whether the daemon takes part in every request of the runtime.
func (s *Status) Ready() bool { return s.Connection.Connected && s.Connection.Synchronized }
