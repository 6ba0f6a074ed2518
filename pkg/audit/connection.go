package audit

import (
	"fmt"
	"time"

	"github.com/mountward/mountward/pkg/internal/words"
)

// The states of a connection to the runtime.
const (
	Connected     = "connected"      // synchronized: containers are decided about
	Lost          = "lost"           // we were connected and are no longer
	GivenUp       = "given-up"       // the runtime took us and did not go on
	StandingAside = "standing-aside" // connected, and another instance decides
	TookOver      = "took-over"      // the other instance is gone
)

// Connection is recorded when what stands between the runtime and us changes.
// While we are not connected nobody decides about new containers.
type Connection struct {
	State      string        `json:"state"`
	Runtime    string        `json:"runtime,omitempty"` // its name and version
	NRI        string        `json:"nri,omitempty"`     // the runtime's version of NRI
	RuntimePID int           `json:"runtime_pid,omitempty"`
	Containers int           `json:"containers,omitempty"` // that the runtime told of
	Held       time.Duration `json:"held_ns,omitempty"`    // how long it was there
	Why        string        `json:"why,omitempty"`
	Next       string        `json:"next,omitempty"` // what comes now, where that is not plain
}

func (c Connection) describe() description {
	desc := description{kind: kindConnection(), priority: prioNotice}
	runtime := "the runtime"
	if c.Runtime != "" {
		runtime += " " + word(c.Runtime)
	}
	switch c.State {
	case Connected:
		desc.message = fmt.Sprintf("connected and synchronized with %s, process %d, NRI %s: %s", runtime, c.RuntimePID, word(c.NRI), words.Count(c.Containers, "container"))
	case Lost:
		desc.priority = prioWarning
		desc.message = fmt.Sprintf("lost the connection to %s after %s: nothing is decided until there is a new one", runtime, c.Held.Round(time.Millisecond))
	case GivenUp:
		desc.priority = prioError
		desc.message = fmt.Sprintf("gave up a connection to %s: nothing is decided until there is a new one", runtime)
	case StandingAside:
		desc.priority = prioWarning
		desc.message = "standing aside: this process changes nothing, refuses nothing and keeps nothing"
	case TookOver:
		desc.message = "took over: this process decides from now on"
	default:
		desc.message = "connection to " + runtime + ": " + word(c.State)
	}
	if c.Why != "" {
		desc.message += ": " + c.Why
	}
	if c.Next != "" {
		desc.message += "; " + c.Next
	}
	desc.fields.add("MOUNTWARD_STATE", c.State)
	desc.fields.add("MOUNTWARD_RUNTIME", c.Runtime)
	desc.fields.add("MOUNTWARD_NRI", c.NRI)
	desc.fields.add("MOUNTWARD_ERROR", c.Why)
	return desc
}
