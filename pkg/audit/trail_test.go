package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sirupsen/logrus"

	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/journal"
	"github.com/mountward/mountward/pkg/volumes"
)

func TestDecisionArrivesInTheJournalWithItsFieldsInOrder(t *testing.T) {
	t.Parallel()
	socket, conn := listen(t)
	trail := open(t, Options{Journal: true, JournalSocket: socket, Now: noon})
	unchanged := facts.Outcome{Mount: facts.Mount{Destination: "/data"}, Asked: facts.Private, Result: facts.Unchanged}
	trail.Record(Decision{
		Container: testContainer(), Policy: testPolicy(), Refused: true, Owner: "refused",
		Outcomes: []facts.Outcome{refusedOutcome(), appliedOutcome(), unchanged},
		Findings: []facts.Finding{{Code: "kubelet-root-private", Message: "the kubelet root is private", Mount: "/var/lib/kubelet"}},
	})
	got := receive(t, conn)
	last := got[len(got)-1]
	want := []journal.Field{
		journal.String("MESSAGE", `refused container app of pod prod/web-0: mount /var/lib/kubelet asked rshared (Bidirectional): rule "nobody-else-shares" policy.toml:12: use HostToContainer; 1 more mount: see MOUNTWARD_MOUNT; 1 finding: see MOUNTWARD_FINDING`),
		journal.String("MESSAGE_ID", IDDecision),
		journal.String("PRIORITY", "4"),
		journal.String("SYSLOG_IDENTIFIER", "mountward"),
		journal.String("MOUNTWARD_EVENT", "decision"),
		journal.String("CONTAINER_ID", "0123456789ab"),
		journal.String("CONTAINER_ID_FULL", containerID),
		journal.String("CONTAINER_NAME", "app"),
		journal.String("IMAGE_NAME", "registry.example/app:1"),
		journal.String("MOUNTWARD_NAMESPACE", "prod"),
		journal.String("MOUNTWARD_POD", "web-0"),
		journal.String("MOUNTWARD_POD_UID", "11111111-2222-3333-4444-555555555555"),
		journal.String("MOUNTWARD_CONTAINER", "app"),
		journal.String("MOUNTWARD_MODE", "enforce"),
		journal.String("MOUNTWARD_POLICY", "/etc/mountward/policy.toml"),
		journal.String("MOUNTWARD_POLICY_SHA256", testPolicy().SHA256),
		journal.String("MOUNTWARD_RULE", "nobody-else-shares"),
		journal.String("MOUNTWARD_RULE", "agents"),
		journal.String("MOUNTWARD_MOUNT", "/var/lib/kubelet rshared: refused (use HostToContainer)"),
		journal.String("MOUNTWARD_MOUNT", "/var/lib/kubelet rprivate -> rslave: applied"),
		journal.String("MOUNTWARD_MOUNT", "/data rprivate: unchanged"),
		journal.String("MOUNTWARD_DEVICE", "253:1"),
		journal.String("MOUNTWARD_FINDING", "kubelet-root-private: /var/lib/kubelet: the kubelet root is private"),
	}
	if diff := cmp.Diff(want, got[:len(got)-1]); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	var head struct {
		Schema, Message string
		Time            time.Time
		Priority        int
		Container       struct{ ID string }
		Outcomes        []facts.Outcome
	}
	if err := json.Unmarshal(last.Value, &head); err != nil || last.Name != "MOUNTWARD_RECORD" {
		t.Fatalf("last field %s: %v", last.Name, err)
	}
	if head.Schema != "mountward.decision/v1" || !head.Time.Equal(noon()) || head.Priority != 4 ||
		head.Container.ID != containerID || len(head.Outcomes) != 3 || head.Message != string(got[0].Value) {
		t.Errorf("record %+v", head)
	}
}

func TestTaskFieldsNameEveryVolumeAndDeviceOnce(t *testing.T) {
	t.Parallel()
	backing := volumes.Backing{Device: facts.DeviceNumber{Major: 253, Minor: 2}, DMName: "vg0-pvc--1", LV: "vg0/pvc-1"}
	got := new(layouts).newRecord(Task{
		Container: testContainer(), Task: volumes.Task{
			Rootfs: volumes.Rootfs{
				Path: "/run/x/rootfs", FSType: "overlay",
				Backing: volumes.Backing{Device: facts.DeviceNumber{Major: 8, Minor: 1}, NoLV: "disk without LVM"},
			},
			Mounts: []volumes.Mount{
				{Destination: "/a", Kind: "csi", Volume: "data", Handle: "h-1", FSType: "ext4", Seen: &facts.MountState{Master: 3}, Backing: backing},
				{Destination: "/b", Backing: backing},
				{Destination: "/c", Kind: "secret", FSType: "tmpfs", Backing: volumes.Backing{NoLV: "tmpfs"}},
				{Destination: "/pods", Kind: "host-path", Backing: volumes.Backing{NoLV: "x"}, Submounts: &volumes.Submounts{
					Count: 2, LVs: []string{"vg0/far", "vg0/near"}, First: []volumes.Submount{{Backing: volumes.Backing{Device: facts.DeviceNumber{Major: 253, Minor: 9}, LV: "vg0/near"}}},
				}},
			},
			Raw: []volumes.Raw{{Path: "/dev/xvda", Kind: "csi", Volume: "pvc-2", Handle: "h-2", Backing: volumes.Backing{Device: facts.DeviceNumber{Major: 253, Minor: 7}, LV: "vg0/pvc-2"}}},
			Storage: []volumes.Storage{{Device: facts.DeviceNumber{Major: 253, Minor: 2}, Chain: device.Chain{Tops: 1, Layers: []device.Layer{
				{Number: facts.DeviceNumber{Major: 253, Minor: 2}, Kind: device.LV, LV: &device.LogicalVolume{VG: "vg0", LV: "pvc-1"}},
				{Number: facts.DeviceNumber{Major: 253, Minor: 1}, Kind: device.LV, LV: &device.LogicalVolume{VG: "vg9", LV: "pv"}},
				{Number: facts.DeviceNumber{Major: 8, Minor: 16}, Kind: device.Disk},
			}}}},
		},
		Stored: []Stored{{Mount: "/a", Rule: "watch vg0", Position: "p:4"}, {Mount: "/b", Rule: "watch vg0", Position: "p:4"}},
	}, noon())
	if message := string(got.fields[0].Value); !strings.HasSuffix(message, `; /a is recorded by rule "watch vg0"; /b is recorded by rule "watch vg0"`) {
		t.Errorf("message %s", message)
	}
	for name, want := range map[string][]string{
		"MOUNTWARD_LV":         {"vg0/pvc-1", "vg0/pvc-2", "vg0/far", "vg0/near", "vg9/pv"},
		"MOUNTWARD_DEVICE":     {"8:1", "253:2", "253:7", "253:9", "253:1", "8:16"},
		"MOUNTWARD_VOLUME":     {"data", "pvc-2"},
		"MOUNTWARD_CSI_HANDLE": {"h-1", "h-2"},
		"MOUNTWARD_RULE":       {"watch vg0"},
		"MOUNTWARD_MOUNT": {
			"/a csi data ext4 253:2 vg0/pvc-1 master:3", "/b 253:2 vg0/pvc-1", "/c secret tmpfs", "/pods host-path 2 submounts",
			"/dev/xvda raw csi pvc-2 253:7 vg0/pvc-2",
		},
	} {
		if diff := cmp.Diff(want, values(got.fields, name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestLargeRecordComesWholeAndWithinJournaldsLimits(t *testing.T) {
	t.Parallel()
	socket, conn := listen(t)
	trail := open(t, Options{Journal: true, JournalSocket: socket})
	var outcomes []facts.Outcome
	for i := range 800 {
		o := appliedOutcome()
		o.Mount.Destination = fmt.Sprintf("/mnt/%d/%s", i, strings.Repeat("x", 100))
		o.Rule = fmt.Sprint("rule", i)
		outcomes = append(outcomes, o)
	}
	trail.Record(Decision{Container: testContainer(), Policy: testPolicy(), Outcomes: outcomes})
	got := receive(t, conn)
	if len(got) > journal.MaxFields {
		t.Errorf("%d fields, journald takes %d", len(got), journal.MaxFields)
	}
	mounts := values(got, "MOUNTWARD_MOUNT")
	if want := "... and 620 more: see MOUNTWARD_RECORD"; mounts[len(mounts)-1] != want {
		t.Errorf("last mount %q, want %q", mounts[len(mounts)-1], want)
	}
	var record struct{ Outcomes []facts.Outcome }
	if err := json.Unmarshal([]byte(values(got, "MOUNTWARD_RECORD")[0]), &record); err != nil || len(record.Outcomes) != 800 {
		t.Errorf("%d outcomes in the record, %v; want 800", len(record.Outcomes), err)
	}
}

func TestLogLinesReadAloneAndNameNoFieldByInput(t *testing.T) {
	t.Parallel()
	socket, conn := listen(t)
	trail := open(t, Options{Journal: true, JournalSocket: socket})
	trail.Logger().WithError(errors.New("no such\nfile")).WithFields(logrus.Fields{
		"pod": "web-0", "MESSAGE_ID": "forged", "policy_sha256": "forged", "a\nPRIORITY": 0,
	}).Warn("reload policy")
	want := []journal.Field{
		journal.String("MESSAGE", `reload policy: no such\nfile (MESSAGE_ID=forged, "a\nPRIORITY"=0, pod=web-0, policy_sha256=forged)`),
		journal.String("PRIORITY", "4"),
		journal.String("SYSLOG_IDENTIFIER", "mountward"),
		journal.String("MOUNTWARD_DETAIL", "MESSAGE_ID=forged"),
		journal.String("MOUNTWARD_DETAIL", "a\nPRIORITY=0"),
		journal.String("MOUNTWARD_ERROR", "no such\nfile"),
		journal.String("MOUNTWARD_POD", "web-0"),
		journal.String("MOUNTWARD_DETAIL", "policy_sha256=forged"),
	}
	if diff := cmp.Diff(want, receive(t, conn)); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}

func TestALevelOfTheLogLosesNoEvent(t *testing.T) {
	t.Parallel()
	socket, conn := listen(t)
	trail := open(t, Options{Journal: true, JournalSocket: socket})
	trail.Logger().SetLevel(logrus.PanicLevel)
	trail.Logger().Error("not sent")
	trail.Record(Task{Container: testContainer()})
	if got := values(receive(t, conn), "MOUNTWARD_EVENT"); len(got) != 1 || got[0] != "task" {
		t.Errorf("first record is of event %q, want the task", got)
	}
}

func TestRecordKeepsNothingOfTheEvent(t *testing.T) {
	t.Parallel()
	gate := &gateSink{open: make(chan struct{})}
	trail := start([]*destination{{sink: gate}}, nil)
	d := Decision{Container: testContainer(), Outcomes: []facts.Outcome{appliedOutcome()}}
	trail.Record(d)
	d.Outcomes[0].Mount.Destination = "/changed"
	d.Container.Pod.Labels["app"] = "changed"
	close(gate.open)
	closeTrail(t, trail)
	if line := string(gate.records()[0].line); strings.Contains(line, "changed") {
		t.Errorf("the record followed a later change: %s", line)
	}
}

func TestStderrGetsOneLineARecord(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	trail := open(t, Options{Stderr: &out, Now: noon})
	trail.Record(PolicyLoaded{Policy: Policy{Name: "p\n.toml", Mode: "audit"}, Default: "allow"})
	trail.Logger().WithTime(noon()).Error("two\nlines")
	closeTrail(t, trail)
	want := `2026-03-01T12:00:00Z notice: policy "p\n.toml" in force: mode audit, default allow, 0 rules` + "\n" +
		`2026-03-01T12:00:00Z err: two\nlines` + "\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("stderr (-want +got):\n%s", diff)
	}
}

func TestNewNeedsSomewhereToWrite(t *testing.T) {
	t.Parallel()
	nowhere := filepath.Join(t.TempDir(), "socket")
	for name, o := range map[string]Options{
		"nothing":         {},
		"no socket":       {Journal: true, JournalSocket: nowhere},
		"a relative file": {File: "audit.jsonl"},
	} {
		if _, err := New(o); err == nil {
			t.Errorf("New with %s: no error", name)
		}
	}
}

func TestDestinations(t *testing.T) {
	t.Parallel()
	socket, _ := listen(t)
	dir := t.TempDir()
	nowhere, file, fallback := filepath.Join(dir, "socket"), filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "b.jsonl")
	tests := map[string]struct {
		options Options
		want    []string
	}{
		"journal":                      {Options{Journal: true, JournalSocket: socket, Fallback: fallback}, []string{"journal " + socket}},
		"journal and file":             {Options{Journal: true, JournalSocket: socket, File: file, Fallback: fallback}, []string{"journal " + socket, "file " + file}},
		"no socket":                    {Options{Journal: true, JournalSocket: nowhere, Fallback: fallback}, []string{"file " + fallback}},
		"no socket and a file":         {Options{Journal: true, JournalSocket: nowhere, File: file, Fallback: fallback}, []string{"file " + file}},
		"journal not asked for":        {Options{JournalSocket: socket, Fallback: fallback}, []string{"file " + fallback}},
		"stderr does not take a place": {Options{Fallback: fallback, Stderr: os.Stderr}, []string{"file " + fallback, "stderr"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, open(t, test.options).Destinations()); diff != "" {
				t.Errorf("destinations (-want +got):\n%s", diff)
			}
		})
	}
}
