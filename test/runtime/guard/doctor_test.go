//go:build linux

package guard_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/ward"
)

// TestDoctorOnContainers: which containers do not see what the kubelet mounts, on
// a real containerd.
func TestDoctorOnContainers(t *testing.T) {
	kubelet := filepath.Join(harness.TestHostDirs(t).Shared.Path, "kubelet")
	g := start(t, ward.Options{Policy: allowAll, Settings: fmt.Sprintf("host.kubelet_root = %q", kubelet)})
	settings := g.settings(kubelet)
	standIn(t, t.TempDir(), &harness.Service{Name: "kubelet", Args: []string{"--root-dir=" + kubelet}})
	p := pinsOf(t, g, settings, kubelet)
	pids := map[string]int{"copy": p.agent("copy", harness.None), "follower": p.agent("follower", harness.HostToContainer)}
	later, err := harness.NewVolume(filepath.Join(kubelet, "pods", p.uid, "volumes/kubernetes.io~csi/pvc-2/mount"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := later.Close(); err != nil {
			t.Error(err)
		}
	})
	for pod, want := range map[string]bool{"copy": false, "follower": true} {
		table, err := harness.Mountinfo(pids[pod])
		if err != nil {
			t.Fatal(err)
		}
		if got := table.At("/data"+strings.TrimPrefix(later.Path, kubelet)) != nil; got != want {
			t.Fatalf("%s has the later volume: %t", pod, got)
		}
	}

	d := diagnose(t, settings, "doctor")
	if got := d.propagation("no"); len(got) > 0 {
		t.Errorf("problems: %q", got)
	}
	frozen := d.coded("yes", "frozen-view")
	if len(frozen) != 1 || !strings.HasPrefix(frozen[0].Subject, "monitoring/copy ") {
		t.Errorf("containers that see less: %+v, want monitoring/copy", frozen)
	}
	d.proven(t)

	d = diagnose(t, settings, "doctor", "--pod", "monitoring/copy")
	if len(d.Findings) != 1 || d.Findings[0].Code != "only-host" || d.Findings[0].Subject != later.Path || d.code != 1 {
		t.Errorf("of the copy: exit code %d, %+v", d.code, d.Findings)
	}
	d.proven(t)
	d = diagnose(t, settings, "doctor", "--pod", "follower")
	if len(d.Findings) != 1 || d.Findings[0].Code != "tables-equal" || d.code != 0 {
		t.Errorf("of the follower: exit code %d, %+v", d.code, d.Findings)
	}
	if a := verb(t, settings, "doctor", "--pod", "no-such-pod"); a.code != 2 || a.stdout != "" {
		t.Errorf("of no pod: exit code %d: %s%s", a.code, a.stdout, a.stderr)
	}
}

// diagnosis is what doctor says.
type diagnosis struct {
	asked
	Schema   string
	Findings []finding
	Unknown  []unknown
}

type finding struct {
	Code, Answer, Subject, Where string
	Message, Cause, Effect       string
	Evidence                     []evidence
	Fixes                        []struct {
		What, File, Content string
		Commands            []string
		Persistent          bool
	}
	Containers []string
}

type evidence struct{ Text, Show string }

type unknown struct{ What, Why string }

// outsidePIDs is what cannot be told in a pid namespace, as that of the tests.
var outsidePIDs = unknown{What: "the processes outside"}

func (u unknown) same(other unknown) bool { return u.What == other.What }

// diagnose runs doctor, and checks what is true of every answer of it.
func diagnose(t *testing.T, settings string, args ...string) diagnosis {
	t.Helper()
	d := diagnosis{asked: verb(t, settings, append(args, "-o", "json")...)}
	if err := json.Unmarshal([]byte(d.stdout), &d); err != nil {
		t.Fatalf("%v in %q; standard error: %s", err, d.stdout, d.stderr)
	}
	if d.Schema != "mountward.doctor/v1" {
		t.Errorf("schema %q", d.Schema)
	}
	want := 0
	for _, f := range d.Findings {
		switch {
		case f.Answer == "no":
			want = 1
		case f.Answer == "unknown" && want == 0:
			want = 2
		}
	}
	if want == 0 && len(d.Unknown) > 0 {
		want = 2
	}
	if d.code != want {
		t.Errorf("exit code %d, want %d by what is in the report", d.code, want)
	}
	return d
}

func (d diagnosis) coded(answer, code string) (found []finding) {
	for _, f := range d.Findings {
		if f.Answer == answer && f.Code == code {
			found = append(found, f)
		}
	}
	return found
}

// propagation lists the findings about paths and namespaces with an answer:
// "CODE ROLE SUBJECT".
func (d diagnosis) propagation(answer string) []string {
	codes := []string{"shared", "not-shared", "slave-only", "downstream-only", "not-linked", "path-unresolved", "host-apart", "namespaces-apart", "cri-misjudges", "nri-misjudges"}
	var all []string
	for _, f := range d.Findings {
		if f.Answer == answer && slices.Contains(codes, f.Code) {
			role, _, _ := strings.Cut(f.Where, " ")
			all = append(all, f.Code+" "+role+" "+f.Subject)
		}
	}
	slices.Sort(all)
	return all
}

// proven runs the command of each evidence: it has to print what the evidence
// says.
func (d diagnosis) proven(t *testing.T) {
	t.Helper()
	for _, f := range d.Findings {
		if len(f.Evidence) == 0 {
			t.Errorf("%s of %s has no evidence", f.Code, f.Subject)
		}
		proven(t, f.Code+" of "+f.Subject, f.Evidence)
	}
}

// proven runs the commands that show a mount or a namespace.
func proven(t *testing.T, what string, all []evidence) {
	t.Helper()
	for _, e := range all {
		said := e.Text
		switch {
		case strings.HasPrefix(e.Show, "grep ") && strings.HasSuffix(e.Show, "/mountinfo") && strings.Contains(e.Show, "'^"):
		case strings.HasPrefix(e.Show, "readlink "):
			said = said[strings.LastIndexByte(said, ' ')+1:]
		default:
			continue
		}
		out, err := exec.CommandContext(t.Context(), "bash", "-c", e.Show).CombinedOutput()
		if err != nil || !strings.Contains(string(out), said) {
			t.Errorf("%s: %s prints %q (%v), the evidence is %q", what, e.Show, out, err, e.Text)
		}
	}
}
