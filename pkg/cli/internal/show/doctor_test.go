package show

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/mountward/mountward/pkg/discover"
	"github.com/mountward/mountward/pkg/doctor"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/namespaces"
)

// diagnosis is a report with each kind of finding, and all that one can have.
func diagnosis() doctor.Document {
	return doctor.Document{
		Schema: doctor.Schema, Time: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), Kernel: "6.12.0",
		Kubelet: doctor.KubeletFound{
			Root: "/var/lib/kubelet", Canonical: "/mnt/storage/kubelet", PID: 900,
			From:     discover.FromProcess,
			Sources:  []discover.Source{{From: discover.FromProcess, Value: "/var/lib/kubelet", Evidence: "default of process 900 \"kubelet\""}},
			Disagree: []string{"/var/lib/kubelet is a symbolic link to /mnt/storage/kubelet"},
		},
		Runtime:    doctor.RuntimeFound{PID: 812, State: "/run/containerd", From: discover.FromProcess},
		Places:     []doctor.Size{{Role: doctor.RoleInit, PID: 1, Inode: 4026531841, Mounts: 3, Types: map[string]int{"ext4": 1, "tmpfs": 2}}, {Role: doctor.RoleKubelet, Why: "permission denied"}},
		Containers: 2,
		Findings: []doctor.Finding{
			{
				Code: "shared", Answer: facts.Yes, Subject: "/", Where: "runtime containerd[812] mnt:[4026531841]", Message: "it is shared",
				Evidence: []doctor.Evidence{{Text: "1 0 0:50 / / rw shared:1 - overlay overlay rw", Show: "findmnt -o +PROPAGATION -T /"}},
			},
			{
				Code: "not-shared", Answer: facts.No, Subject: "/var/lib/kubelet", Where: "runtime containerd[812] mnt:[4026531841]",
				Message:  "/var/lib/kubelet is on the mount at /var/lib/kubelet, which is private",
				Evidence: []doctor.Evidence{{Text: "40 1 253:1 /vols/x /var/lib/kubelet rw - ext4 /dev/vda1 rw", Show: "nsenter -m -t 812 findmnt -o +PROPAGATION -T /var/lib/kubelet"}},
				Cause:    "it is a volume of its own, which nobody made shared",
				Effect:   "HostToContainer and Bidirectional fail at create",
				Fixes: []doctor.Fix{
					{What: "make it shared now", Commands: []string{"mount --make-rshared /var/lib/kubelet"}},
					{What: "make it shared at every boot", File: "/etc/systemd/system/x.service", Content: "[Unit]\n\n[Service]\nExecStart=mount --make-rshared /var/lib/kubelet\n", Commands: []string{"systemctl enable --now x.service"}, Persistent: true},
				},
				Containers: []string{"kube-system/csi/driver"},
			},
			{Code: "stale", Answer: facts.Unknown, Subject: "monitoring/node-exporter", Message: "its table: permission denied"},
		},
		Unknown: []namespaces.Unknown{{What: "process 77", Why: "permission denied"}},
	}
}

// TestDoctorOfANode: each kind of line there is.
func TestDoctorOfANode(t *testing.T) {
	d := diagnosis()
	golden(t, "doctor.table", text(t, func(w io.Writer) error { return DoctorTable(w, d) }))
	golden(t, "doctor.json", text(t, func(w io.Writer) error { return JSON(w, d) }))
	golden(t, "doctor.nfd", text(t, func(w io.Writer) error { return DoctorFeatures(w, d) }))
	golden(t, "doctor-healthy.table", text(t, func(w io.Writer) error {
		return DoctorTable(w, doctor.Document{Baseline: "/a b", Findings: d.Answered(facts.Yes)})
	}))
}

// TestOneFaultIsOneBlock: what differs in its subject alone is told once; a
// problem elsewhere, or with another way out, is not.
func TestOneFaultIsOneBlock(t *testing.T) {
	d := diagnosis()
	f := d.Findings[1]
	below, elsewhere, other := f, f, f
	below.Subject, below.Message = "/var/lib/kubelet/po ds", "it is as well"
	elsewhere.Where = "kubelet kubelet[900]"
	other.Fixes = other.Fixes[:1]
	got := text(t, func(w io.Writer) error {
		return DoctorTable(w, doctor.Document{Findings: []doctor.Finding{f, below, elsewhere, other}})
	})
	if n := strings.Count(got, "PROBLEM "); n != 3 || !strings.Contains(got, "\n  also        /var/lib/kubelet/po ds\n") || !strings.HasSuffix(got, "problems: 4, cannot tell: 0, sound: 0\n") {
		t.Errorf("%d blocks of 4 problems:\n%s", n, got)
	}
}

// TestTheReportIsABaseline: of itself, nothing is new; JSON and --baseline
// agree on every name.
func TestTheReportIsABaseline(t *testing.T) {
	for _, name := range append(hostile(), "x") {
		d := diagnosed(name)
		b, err := doctor.ReadBaseline([]byte(text(t, func(w io.Writer) error { return JSON(w, d) })))
		if err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		if since := d.Since("x", b); len(since.Findings) > 0 || len(since.Unknown) > 0 {
			t.Errorf("%q: new in itself: %+v %+v", name, since.Findings, since.Unknown)
		}
	}
	for _, partial := range []doctor.Document{{Pod: "web-0"}, {Baseline: "x.json"}} {
		partial.Schema = doctor.Schema
		if _, err := doctor.ReadBaseline([]byte(text(t, func(w io.Writer) error { return JSON(w, partial) }))); err == nil {
			t.Errorf("a report of a part is a baseline: %+v", partial)
		}
	}
}

// diagnosed is a report in which one name stands wherever a name can.
func diagnosed(name string) doctor.Document {
	code := name
	if code == "" || !utf8.ValidString(code) {
		code = "x" // checks choose it
	}
	finding := func(answer facts.Truth) doctor.Finding {
		return doctor.Finding{
			Code: code, Answer: answer, Subject: name, Where: name, Message: name, Cause: name, Effect: name,
			Evidence: []doctor.Evidence{{Text: name, Show: name}}, Containers: []string{name},
			Fixes: []doctor.Fix{{What: name, Commands: []string{name}, File: name, Content: "a\nb\n", Persistent: true}, {What: name}},
		}
	}
	return doctor.Document{
		Schema: doctor.Schema, Pod: "", Baseline: "", Kernel: name,
		Kubelet:  doctor.KubeletFound{Root: name, Canonical: name, Sources: []discover.Source{{From: name, Value: name, Evidence: name}}, Disagree: []string{name}, Why: name},
		Runtime:  doctor.RuntimeFound{Socket: name, State: name, Root: name, Config: name, Version: name},
		Places:   []doctor.Size{{Role: name, Types: map[string]int{name: 1}, Why: name}},
		Findings: []doctor.Finding{finding(facts.Yes), finding(facts.No), finding(facts.Unknown)},
		Unknown:  []namespaces.Unknown{{What: name, Why: name}},
	}
}

// TestNoNameForgesAFinding: a name is as many lines as any other, none of them
// at the margin, and nothing but text reaches a terminal.
func TestNoNameForgesAFinding(t *testing.T) {
	write := map[string]func(io.Writer, doctor.Document) error{"table": DoctorTable, "nfd": DoctorFeatures}
	names := append(hostile(), "a\nPROBLEM forged /", "a\nmountward.io/doctor=sound")
	for format, write := range write {
		plain := text(t, func(w io.Writer) error { return write(w, diagnosed("x")) })
		for _, name := range names {
			got := text(t, func(w io.Writer) error { return write(w, diagnosed(name)) })
			if name != "" && strings.Count(got, "\n") != strings.Count(plain, "\n") {
				t.Errorf("%s: %q makes %d lines of %d:\n%s", format, name, strings.Count(got, "\n"), strings.Count(plain, "\n"), got)
			}
			if strings.Count("\n"+got, "\nPROBLEM ") != strings.Count("\n"+plain, "\nPROBLEM ") {
				t.Errorf("%s: %q is a problem:\n%s", format, name, got)
			}
			if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
				t.Errorf("%s: %q reaches the terminal: %q", format, name, got)
			}
			line := doctor.OneLine(diagnosed(name).Findings, nil)
			if len(line) > doctor.MaxOneLine || strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Errorf("%q: one line: %q", name, line)
			}
		}
	}
}

// TestLongListsAreCut, and say so.
func TestLongListsAreCut(t *testing.T) {
	d := diagnosis()
	f := &d.Findings[1]
	f.Evidence, f.Containers = nil, nil
	for i := range 1000 {
		f.Evidence = append(f.Evidence, doctor.Evidence{Text: fmt.Sprint("line ", i)})
		f.Containers = append(f.Containers, fmt.Sprint("container ", i))
	}
	got := text(t, func(w io.Writer) error { return DoctorTable(w, d) })
	if !strings.Contains(got, "and 988 more") || !strings.Contains(got, "and 980 more") || strings.Count(got, "\n") > 60 {
		t.Errorf("%d lines:\n%s", strings.Count(got, "\n"), got)
	}
	var all struct {
		Findings []struct{ Containers []string }
	}
	if err := json.Unmarshal([]byte(text(t, func(w io.Writer) error { return JSON(w, d) })), &all); err != nil || len(all.Findings[1].Containers) != 1000 {
		t.Errorf("JSON: %v", err)
	}
}

// TestLabelsOfANode: what a label says of each answer.
func TestLabelsOfANode(t *testing.T) {
	about := func(answer facts.Truth, subject, where string) doctor.Finding {
		return doctor.Finding{Code: "not-shared", Answer: answer, Subject: subject, Where: where}
	}
	for name, test := range map[string]struct {
		findings []doctor.Finding
		want     string
	}{
		"nothing is known":      {nil, "sound unknown"},
		"shared":                {[]doctor.Finding{about(facts.Yes, "/k", "pid 1 i[1], runtime c[1]")}, "sound true"},
		"shared for pid 1 only": {[]doctor.Finding{about(facts.Yes, "/k", "pid 1"), about(facts.No, "/k", "runtime c[1]")}, "problems false"},
		"another path":          {[]doctor.Finding{about(facts.No, "/k/pods", "runtime c[1]")}, "problems unknown"},
		"cannot tell":           {[]doctor.Finding{about(facts.Unknown, "/k", "runtime c[1]")}, "unknown unknown"},
		"by its other name":     {[]doctor.Finding{about(facts.Yes, "/mnt/k", "runtime c[1]")}, "sound true"},
		"one of two spellings":  {[]doctor.Finding{about(facts.Yes, "/mnt/k", "runtime c[1]"), about(facts.No, "/k", "runtime c[1]")}, "problems false"},
	} {
		d := doctor.Document{Kubelet: doctor.KubeletFound{Root: "/k", Canonical: "/mnt/k"}, Findings: test.findings}
		if got := health(d.Answer()) + " " + rootShared(d); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
	for code, want := range map[string]string{"problem.not-shared": "problem.not-shared", "problem.a b/é": "problem.a-b", "x" + strings.Repeat("y", 99): "x" + strings.Repeat("y", 62)} {
		if got := labelName(code); got != want {
			t.Errorf("%q: %q, want %q", code, got, want)
		}
	}
}
