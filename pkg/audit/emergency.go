package audit

import (
	"fmt"
	"time"
)

// Emergency is recorded when somebody lets mountward stand aside, so that
// containers are created as they ask to be, and when that is over.
type Emergency struct {
	Begins bool      `json:"begins"`
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until"` // as it was asked for
	// Cause is why it begins or ends: one of the causes below.
	Cause string `json:"cause"`
	// StandsIn is set where no daemon runs and the command itself answers the
	// runtime in its place.
	StandsIn bool `json:"stands_in,omitempty"`
}

// Why an emergency begins or ends.
const (
	EmergencyAsked   = "asked for"
	EmergencyKept    = "it was on before this start" // of the daemon
	EmergencyNoted   = "noted by a command that could not reach the daemon"
	EmergencyOver    = "its time is up"
	EmergencyEnded   = "ended by command"
	EmergencyMissed  = "its time was up while the daemon was away"
	EmergencyStopped = "the command was stopped"
)

func (e Emergency) describe() description {
	desc := description{kind: kindEmergency(), priority: prioError}
	who, until := "mountward stands aside", e.Until.UTC().Format(time.RFC3339)
	if e.StandsIn {
		who = "no daemon runs, and the command emergency stands in for it"
	}
	desc.message = fmt.Sprintf("emergency is over (%s): mountward decides again", e.Cause)
	switch {
	case e.Begins:
		desc.message = fmt.Sprintf("EMERGENCY (%s): %s until %s: containers are created unjudged", e.Cause, who, until)
	case e.StandsIn:
		desc.message = fmt.Sprintf("emergency is over (%s): no daemon runs, and the command no longer stands in for it", e.Cause)
	}
	desc.fields.add("MOUNTWARD_UNTIL", until)
	desc.fields.add("MOUNTWARD_CAUSE", e.Cause)
	return desc
}
