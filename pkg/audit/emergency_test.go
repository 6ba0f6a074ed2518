package audit

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestEmergencyReadsAlone: both ends of it are errors, and nobody has to know
// the other record to understand one.
func TestEmergencyReadsAlone(t *testing.T) {
	t.Parallel()
	at := func(e Emergency) Emergency {
		e.Since, e.Until = noon(), noon().Add(time.Hour)
		return e
	}
	until := noon().Add(time.Hour).UTC().Format(time.RFC3339)
	for name, test := range map[string]struct {
		event Emergency
		want  string
	}{
		"begins":     {at(Emergency{Begins: true, Cause: EmergencyAsked}), "EMERGENCY (asked for): mountward stands aside until " + until + ": containers are created unjudged"},
		"ends":       {at(Emergency{Cause: EmergencyOver}), "emergency is over (its time is up): mountward decides again"},
		"stands in":  {at(Emergency{Begins: true, Cause: EmergencyAsked, StandsIn: true}), "EMERGENCY (asked for): no daemon runs, and the command emergency stands in for it until " + until + ": containers are created unjudged"},
		"no longer ": {at(Emergency{Cause: EmergencyStopped, StandsIn: true}), "emergency is over (the command was stopped): no daemon runs, and the command no longer stands in for it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := new(layouts).newRecord(test.event, noon())
			if diff := cmp.Diff(test.want, r.message); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
			if r.priority != prioError {
				t.Errorf("priority %s, want error", r.priority)
			}
			if diff := cmp.Diff([]string{until}, values(r.fields, "MOUNTWARD_UNTIL")); diff != "" {
				t.Errorf("MOUNTWARD_UNTIL (-want +got):\n%s", diff)
			}
		})
	}
}
