package journald_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/audit"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/journal"
	"github.com/mountward/mountward/pkg/verify"
	"github.com/mountward/mountward/pkg/volumes"
)

func TestJournaldKeepsEveryByteAndNothingForgesAField(t *testing.T) {
	t.Parallel()
	d := startJournald(t)
	writer, err := journal.NewWriter(d.socket, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	tests := map[string][]journal.Field{
		"newlines":  {journal.String("A", "x\nMESSAGE_ID=ffffffffffffffffffffffffffffffff\n"), journal.String("B", "\n")},
		"equals":    {journal.String("A", "=x="), journal.String("B", "_UID=77")},
		"not UTF-8": {journal.String("A", "/\xff\xfe"), journal.String("B", "\x00\x01\x7f")},
		"empty":     {journal.String("A", "")},
		"repeated":  {journal.String("A", "1"), journal.String("A", "2"), journal.String("A", "3")},
		"length":    {journal.String("A", "x\n\x05\x00\x00\x00\x00\x00\x00\x00MESSAGE")},
		"large":     {journal.String("A", strings.Repeat("\xff=\n", 300_000)), journal.String("B", "y")},
	}
	many := []journal.Field{}
	for i := range journal.MaxFields - 1 {
		many = append(many, journal.String("A", fmt.Sprint(i)))
	}
	tests["many"] = many
	for name, fields := range tests {
		if err := writer.Send(append([]journal.Field{journal.String("CASE", name)}, fields...)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, fields := range tests {
		want := []pair{{"CASE", name}}
		for _, field := range fields {
			want = append(want, pair{field.Name, string(field.Value)})
		}
		got := fromClient(d.read(t, 1, "CASE="+name)[0])
		if diff := gocmp.Diff(sorted(want), sorted(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%.2000s", name, diff)
		}
	}
}

func TestTrailIsFoundByItsFieldsAndExplained(t *testing.T) {
	t.Parallel()
	d := startJournald(t)
	trail, err := audit.New(audit.Options{Journal: true, JournalSocket: d.socket})
	if err != nil {
		t.Fatal(err)
	}
	evil := "/data\nMOUNTWARD_EVENT=forged\n\xff"
	container := audit.Container{
		ID: strings.Repeat("0123456789abcdef", 4), Name: "app", Image: "img",
		Pod: facts.Pod{Namespace: "prod", Name: "web-0", UID: "u", Labels: map[string]string{evil: "a=b"}},
	}
	policy := audit.Policy{Name: "/etc/mountward/policy.toml", SHA256: strings.Repeat("ab", 32), Mode: "enforce"}
	device := facts.DeviceNumber{Major: 253, Minor: 2}
	trail.Record(audit.PolicyLoaded{Policy: policy, Source: audit.FromFile, Default: "allow", Rules: 3})
	trail.Record(audit.PolicyRejected{
		Name:    policy.Name,
		Errors:  []audit.PolicyError{{File: "policy.toml", Line: 3, Column: 1, Message: "unknown key"}},
		InForce: audit.InForce{Policy: policy, Source: audit.FromFile},
	})
	trail.Record(audit.Decision{Container: container, Policy: policy, Refused: true, Outcomes: []facts.Outcome{{
		Mount: facts.Mount{Destination: evil}, Asked: facts.Shared, Action: facts.ActionDeny, Result: facts.Refused,
	}}})
	trail.Record(audit.Drift{Container: container, Policy: policy, Proofs: []verify.Proof{{Destination: evil, Verdict: verify.Unknown}}})
	trail.Record(audit.Task{Container: container, Policy: policy, Task: volumes.Task{Mounts: []volumes.Mount{
		{Destination: evil, Volume: evil, Handle: evil, Backing: volumes.Backing{Device: device, LV: "vg0/pvc-1"}},
		{Destination: strings.Repeat("/long", 200_000)},
	}}})
	trail.Record(audit.Leftover{Container: container, Mounts: []audit.LeftoverMount{{Code: "made", Path: evil, Why: evil, Line: evil}}})
	trail.Record(audit.Crash{Container: container, Policy: policy, Handler: "create", Panic: evil, Stack: evil})
	trail.Record(audit.Hazard{Container: container, Policy: policy, Hazards: []facts.Hazard{
		{Code: facts.HazardShadowed, Message: "is hidden", Destinations: []string{evil}, Action: facts.HazardWarn},
		{Code: facts.HazardInsideShared, Message: "lands inside", Destinations: []string{"/b", evil}, Action: facts.HazardWarn},
	}})
	trail.Record(audit.Emergency{Begins: true, Cause: audit.EmergencyAsked})
	trail.Record(audit.Missed{Container: container, Policy: policy, Outcomes: []facts.Outcome{{Mount: facts.Mount{Destination: evil}, Result: facts.Applied, Would: true}}})
	first := audit.FirstStart{Policy: policy, Running: 1}
	first.Refused.Add(container)
	trail.Record(first)
	trail.Record(audit.Host{Path: evil, What: "required path", Mount: facts.HostMount{MountPoint: evil}})
	trail.Record(audit.Connection{State: audit.Lost, Runtime: evil, NRI: evil, Why: evil})
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := trail.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if sent, lost := trail.Stats(); sent != 13 || lost != 0 {
		t.Errorf("sent %d, lost %d; want 13 and 0", sent, lost)
	}

	d.read(t, 13, "SYSLOG_IDENTIFIER=mountward")
	explain := explainer(t, d)
	for event, id := range map[string]string{
		"policy-loaded": audit.IDPolicyLoaded, "policy-rejected": audit.IDPolicyRejected,
		"decision": audit.IDDecision, "drift": audit.IDDrift, "task": audit.IDTask, "leftover": audit.IDLeftover,
		"crash": audit.IDCrash, "hazard": audit.IDHazard, "emergency": audit.IDEmergency,
		"missed": audit.IDMissed, "first-start": audit.IDFirstStart, "host": audit.IDHost, "connection": audit.IDConnection,
	} {
		record := d.read(t, 1, "MESSAGE_ID="+id)[0]
		if got := all(record, "MOUNTWARD_EVENT"); !slices.Equal(got, []string{event}) {
			t.Errorf("%s: events %q", event, got)
		}
		text := all(record, "MOUNTWARD_RECORD")
		if len(text) != 1 || !json.Valid([]byte(text[0])) {
			t.Errorf("%s: %d records, want one of valid JSON", event, len(text))
		}
		if shown := explain(id); !strings.Contains(shown, "Defined-By: mountward") || strings.Contains(shown, "@") {
			t.Errorf("%s: journalctl -x does not explain it, or leaves a field out:\n%s", event, shown)
		}
	}
	d.read(t, 1, "MOUNTWARD_LV=vg0/pvc-1", "MOUNTWARD_DEVICE=253:2")
	d.read(t, 1, "MOUNTWARD_EVENT=hazard", "MOUNTWARD_HAZARD=MW101")
	refused := all(d.read(t, 1, "MOUNTWARD_EVENT=decision")[0], "MOUNTWARD_MOUNT")
	if want := []string{evil + " rshared: refused"}; !slices.Equal(refused, want) {
		t.Errorf("mounts %q, want %q", refused, want)
	}
}

func TestCatalogIsAcceptedByJournalctl(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	updateCatalog(t, root)
	output, err := exec.Command("journalctl", "--list-catalog", "--root="+root).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	var got []string
	for line := range strings.Lines(string(output)) {
		id, subject, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !strings.HasPrefix(subject, "mountward: ") || len(subject) < len("mountward: ")+10 {
			t.Errorf("line %q, want an id, mountward and a subject", line)
		}
		got = append(got, id)
	}
	want := []string{audit.IDPolicyLoaded, audit.IDPolicyRejected, audit.IDDecision, audit.IDDrift, audit.IDTask, audit.IDLeftover, audit.IDCrash, audit.IDHazard, audit.IDEmergency, audit.IDMissed, audit.IDFirstStart, audit.IDHost, audit.IDConnection}
	slices.Sort(want)
	slices.Sort(got)
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
}

// updateCatalog compiles our catalog alone below root, as a package's install
// script does below /.
func updateCatalog(t *testing.T, root string) {
	t.Helper()
	source, err := os.ReadFile("../../systemd/mountward.catalog")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"usr/lib/systemd/catalog", "var/lib/systemd/catalog"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "usr/lib/systemd/catalog/mountward.catalog"), source, 0o644); err != nil {
		t.Fatal(err)
	}
	output, err := exec.Command("journalctl", "--update-catalog", "--root="+root).CombinedOutput()
	if err != nil || len(output) > 0 {
		t.Fatalf("journalctl --update-catalog: %v: %s", err, output)
	}
}

// explainer returns what journalctl -x says of the record with an id. journalctl
// knows one place for its catalog only: ours is bound there, for it alone.
func explainer(t *testing.T, d *daemon) func(id string) string {
	t.Helper()
	root := t.TempDir()
	updateCatalog(t, root)
	const script = `set -eu
mount --bind "$1" /var/lib/systemd/catalog
exec journalctl --directory "$2" --quiet --catalog --output short "MESSAGE_ID=$3"
`
	return func(id string) string {
		output, err := exec.Command("unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh",
			filepath.Join(root, "var/lib/systemd/catalog"), d.dir, id).CombinedOutput()
		if err != nil {
			t.Errorf("%v: %s", err, output)
		}
		return string(output)
	}
}

// fromClient leaves out what journald adds.
func fromClient(record []pair) []pair {
	return slices.DeleteFunc(slices.Clone(record), func(p pair) bool { return strings.HasPrefix(p.Name, "_") })
}

// sorted puts pairs in an order of their own: journald keeps repeated names
// but not the order of fields.
func sorted(pairs []pair) []pair {
	slices.SortFunc(pairs, func(a, b pair) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Value, b.Value))
	})
	return pairs
}

func all(record []pair, name string) []string {
	var values []string
	for _, p := range record {
		if p.Name == name {
			values = append(values, p.Value)
		}
	}
	return values
}
