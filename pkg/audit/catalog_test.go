package audit

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
)

func kinds() []kind {
	return []kind{
		kindPolicyLoaded(), kindPolicyRejected(), kindDecision(), kindDrift(), kindTask(), kindLeftover(), kindCrash(), kindHazard(), kindEmergency(),
		kindMissed(), kindFirstStart(), kindHost(), kindConnection(),
	}
}

func TestEveryMessageIDHasItsCatalogEntry(t *testing.T) {
	t.Parallel()
	var want []string
	for _, k := range kinds() {
		want = append(want, k.id)
	}
	var got []string
	for _, match := range regexp.MustCompile(`(?m)^-- ([0-9a-f]{32})$`).FindAllStringSubmatch(catalog(t), -1) {
		got = append(got, match[1])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ids in the catalog (-constants +catalog):\n%s", diff)
	}
}

func TestCatalogFitsATerminalAndNamesOnlyFieldsThatAreSent(t *testing.T) {
	t.Parallel()
	sent := map[string]bool{}
	events := []Event{
		Decision{Container: testContainer(), Policy: testPolicy()},
		Task{Container: testContainer(), Policy: testPolicy()},
		Drift{Container: testContainer(), Policy: testPolicy()},
		Leftover{Container: testContainer()},
		Hazard{Container: testContainer(), Policy: testPolicy(), Hazards: []facts.Hazard{{Code: facts.HazardInsideShared}}},
		Crash{Container: testContainer(), Policy: testPolicy(), Handler: "create", Panic: "boom", Stack: "goroutine 1"},
		Emergency{Begins: true, Cause: EmergencyAsked},
		PolicyLoaded{Policy: testPolicy()},
		Missed{Container: testContainer(), Policy: testPolicy()},
		FirstStart{Policy: testPolicy()},
		Host{Path: "/k", What: "kubelet root", Mount: *hostMount()},
		Connection{State: Lost, Runtime: "containerd v2.4.2", NRI: "v0.12.3", Why: "EOF"},
		PolicyRejected{Name: "p", InForce: InForce{Policy: testPolicy(), Source: FromFile}},
	}
	byID := map[string]Event{}
	for _, event := range events {
		byID[event.describe().kind.id] = event
	}
	for i, line := range strings.Split(catalog(t), "\n") {
		if len(line) > 76 {
			t.Errorf("line %d has %d bytes, want at most 76", i+1, len(line))
		}
		if id, ok := strings.CutPrefix(line, "-- "); ok {
			clear(sent)
			for _, field := range new(layouts).newRecord(byID[id], noon()).fields {
				sent[field.Name] = true
			}
		}
		for _, match := range regexp.MustCompile(`@([^@ ]*)@`).FindAllStringSubmatch(line, -1) {
			if !sent[match[1]] || strings.ContainsAny(match[1], "0123456789") {
				// systemd replaces no name with a digit in it (252, measured).
				t.Errorf("line %d names %s, which that event does not send or journalctl does not replace", i+1, match[1])
			}
		}
	}
}

func TestKindsAreDistinct(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, k := range kinds() {
		for _, text := range []string{k.name, k.schema, k.id} {
			if seen[text] {
				t.Errorf("%q comes twice", text)
			}
			seen[text] = true
		}
		if k.schema != "mountward."+k.name+"/v1" {
			t.Errorf("schema %q of event %q", k.schema, k.name)
		}
	}
}

func catalog(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("../../systemd/mountward.catalog")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
