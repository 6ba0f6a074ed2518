package audit

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
)

func TestNothingFromOutsideForgesAField(t *testing.T) {
	t.Parallel()
	socket, conn := listen(t)
	trail := open(t, Options{Journal: true, JournalSocket: socket})
	for _, evil := range []string{
		"/x\nMESSAGE_ID=ffffffffffffffffffffffffffffffff\n",
		"/x\nMOUNTWARD_EVENT=task\nMESSAGE",
		"=/x=", "/\xff\xfe", "\n", "_UID=0", "/x\x00\n\x05\x00\x00\x00\x00\x00\x00\x00MESSAGE",
	} {
		c := testContainer()
		c.Pod.Labels = map[string]string{evil: evil, "MESSAGE_ID": "x"}
		c.Pod.Name, c.Name, c.Image, c.ID = evil, evil, evil, evil
		o := appliedOutcome()
		o.Mount.Destination, o.Mount.Source, o.Rule = evil, evil, evil
		trail.Record(Decision{Container: c, Policy: testPolicy(), Outcomes: []facts.Outcome{o}})
		got := receive(t, conn)
		var names []string
		for _, field := range got {
			names = append(names, field.Name)
		}
		wantNames := []string{
			"MESSAGE", "MESSAGE_ID", "PRIORITY", "SYSLOG_IDENTIFIER", "MOUNTWARD_EVENT", "CONTAINER_ID", "CONTAINER_ID_FULL",
			"CONTAINER_NAME", "IMAGE_NAME", "MOUNTWARD_NAMESPACE", "MOUNTWARD_POD", "MOUNTWARD_POD_UID", "MOUNTWARD_CONTAINER",
			"MOUNTWARD_MODE", "MOUNTWARD_POLICY", "MOUNTWARD_POLICY_SHA256", "MOUNTWARD_RULE", "MOUNTWARD_MOUNT",
			"MOUNTWARD_DEVICE", "MOUNTWARD_RECORD",
		}
		if diff := cmp.Diff(wantNames, names); diff != "" {
			t.Errorf("names for %q (-want +got):\n%s", evil, diff)
		}
		for name, want := range map[string]string{
			"MESSAGE_ID": IDDecision, "MOUNTWARD_POD": evil, "MOUNTWARD_RULE": evil, "IMAGE_NAME": evil,
			"MOUNTWARD_MOUNT": evil + " rprivate -> rslave: applied",
		} {
			if diff := cmp.Diff([]string{want}, values(got, name)); diff != "" {
				t.Errorf("%s for %q (-want +got):\n%s", name, evil, diff)
			}
		}
		var record map[string]any
		if err := json.Unmarshal([]byte(values(got, "MOUNTWARD_RECORD")[0]), &record); err != nil {
			t.Fatal(err)
		}
		pod := undo(record).(map[string]any)["container"].(map[string]any)["pod"].(map[string]any)
		if diff := cmp.Diff(map[string]any{evil: evil, "MESSAGE_ID": "x"}, pod["labels"]); diff != "" {
			t.Errorf("labels for %q (-want +got):\n%s", evil, diff)
		}
	}
}
