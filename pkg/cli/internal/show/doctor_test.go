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
		Places:     []doctor.Size{{Role: doctor.RoleInit, PID: 1, Inode: 4026531841, Mounts: 3, Types: map[string]int{"ext4": 1, "tmpfs": 2}}, {Role: doctor.RoleKubelet, Why: "permission denied"}, {Role: doctor.RoleRuntime, PID: 812, Inode: 4026531841, Mounts: 3, Types: map[string]int{"ext4": 1, "tmpfs": 2}}},
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

// TestWhatIsToBeWrittenIsPrinted, into a file that the fix names, or one that
// its sentence does.
func TestWhatIsToBeWrittenIsPrinted(t *testing.T) {
	d := diagnosis()
	d.Findings = d.Findings[1:2]
	d.Findings[0].Fixes = []doctor.Fix{{What: "in place of that line, this one", Content: "ExecStartPre=x\n[y]\n", Commands: []string{"systemctl cat k"}}}
	got := text(t, func(w io.Writer) error { return DoctorTable(w, d) })
	const want = "  fix         in place of that line, this one\n                ExecStartPre=x\n                [y]\n              $ systemctl cat k\n"
	if !strings.Contains(got, want) || strings.Contains(got, "write") {
		t.Errorf("no\n%s in\n%s", want, got)
	}
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
			line := doctor.Document{Findings: diagnosed(name).Findings}.OneLine()
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

// TestTheRootIsSharedWhereAllOfItIs: in the runtime's mount namespace and in the
// kubelet's, at the root, its pods and its plugins.
func TestTheRootIsSharedWhereAllOfItIs(t *testing.T) {
	const both, runtime, kubelet = "pid 1 i[1], kubelet k[3], runtime c[2] mnt:[7]", "pid 1 i[1], runtime c[2] mnt:[7]", "kubelet k[3] mnt:[8]"
	together := []doctor.Size{{Role: doctor.RoleInit, Inode: 7}, {Role: doctor.RoleKubelet, Inode: 7}, {Role: doctor.RoleRuntime, Inode: 7}}
	apart := []doctor.Size{{Role: doctor.RoleInit, Inode: 7}, {Role: doctor.RoleKubelet, Inode: 8}, {Role: doctor.RoleRuntime, Inode: 7}}
	about := func(answer facts.Truth, code, where string, subjects ...string) (all []doctor.Finding) {
		for _, subject := range subjects {
			all = append(all, doctor.Finding{Code: code, Answer: answer, Subject: subject, Where: where})
		}
		return all
	}
	sound := func(where string) []doctor.Finding {
		return about(facts.Yes, doctor.CodeShared, where, "/k", "/k/pods", "/k/plugins")
	}
	with := func(all []doctor.Finding, more ...doctor.Finding) []doctor.Finding { return append(all, more...) }
	for name, test := range map[string]struct {
		places   []doctor.Size
		findings []doctor.Finding
		want     string
	}{
		"nothing is known":                    {nil, nil, "sound unknown"},
		"all of it":                           {together, sound(both), "sound true"},
		"by its other name":                   {together, about(facts.Yes, doctor.CodeShared, both, "/mnt/k", "/mnt/k/pods", "/mnt/k/plugins"), "sound true"},
		"only the root":                       {together, about(facts.Yes, doctor.CodeShared, both, "/k"), "sound unknown"},
		"not the pods":                        {together, with(about(facts.Yes, doctor.CodeShared, both, "/k", "/k/plugins"), about(facts.No, doctor.CodeNotShared, both, "/k/pods")...), "problems false"},
		"not what a driver has there":         {together, with(sound(both), about(facts.No, doctor.CodeNotShared, both, "/k/plugins/kubernetes.io/csi/x")...), "problems false"},
		"refused by the runtime":              {together, with(sound(both), about(facts.No, doctor.CodeCRIMisjudges, both, "/k/pods")...), "problems false"},
		"another path":                        {together, with(sound(both), about(facts.No, doctor.CodeNotShared, both, "/kub", "/sys")...), "problems true"},
		"something else about it":             {together, with(sound(both), about(facts.No, doctor.CodeKubeletStack, both, "/k")...), "problems true"},
		"in both namespaces":                  {apart, with(sound(runtime), sound(kubelet)...), "sound true"},
		"the kubelet's is private":            {apart, with(sound(runtime), about(facts.No, doctor.CodeNotShared, kubelet, "/k", "/k/pods", "/k/plugins")...), "problems false"},
		"the kubelet's is not known":          {apart, sound(runtime), "sound unknown"},
		"the kubelet is not known":            {together[2:], sound(both), "sound unknown"},
		"the runtime is not known, no anyway": {together[1:2], about(facts.No, doctor.CodeNotShared, both, "/k"), "problems false"},
		"cannot tell of one":                  {together, with(sound(both), about(facts.Unknown, doctor.CodeUnresolved, both, "/k/pods")...), "unknown unknown"},
		"without numbers":                     {[]doctor.Size{{Role: doctor.RoleKubelet}, {Role: doctor.RoleRuntime}}, sound("kubelet k[3], runtime c[2]"), "sound true"},
	} {
		d := doctor.Document{Kubelet: doctor.KubeletFound{Root: "/k", Canonical: "/mnt/k"}, Places: test.places, Findings: test.findings}
		if got := health(d.Answer()) + " " + rootShared(d); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// TestANameOfALabelIsOne.
func TestANameOfALabelIsOne(t *testing.T) {
	for code, want := range map[string]string{"problem.not-shared": "problem.not-shared", "problem.a b/é": "problem.a-b", "x" + strings.Repeat("y", 99): "x" + strings.Repeat("y", 62)} {
		if got := labelName(code); got != want {
			t.Errorf("%q: %q, want %q", code, got, want)
		}
	}
}

// TestASubjectHasItsSpacesAndNoOthers: words are read as words; a space that
// could be taken for the end of a column, and what could be taken for an escape,
// are not written as they are.
func TestASubjectHasItsSpacesAndNoOthers(t *testing.T) {
	for name, want := range map[string]string{
		"":                            "-",
		"pod 6f1a":                    "pod 6f1a",
		"monitoring/copy main (0123)": "monitoring/copy main (0123)",
		"/var/lib/a b":                `/var/lib/a\040b`,
		"a  b":                        `a\040\040b`,
		" a ":                         `\040a\040`,
		" ":                           `\040`,
		"a\tb c":                      `a\011b c`,
		"a\nPROBLEM b":                `a\012PROBLEM b`,
		"a\x1b[2J b":                  `a\033[2J b`,
		`a\040b c`:                    `a\134040b c`,
		"a\xff b":                     `a\377 b`,
		"a\u00a0b":                    `a\302\240b`,
		"x \\":                        `x \134`,
	} {
		if got := subject(name); got != want {
			t.Errorf("%q is written %q, want %q", name, got, want)
		}
	}
}

// FuzzSubject: no two names are written alike, and none is more than one cell of
// one line.
func FuzzSubject(f *testing.F) {
	for _, seed := range []string{"pod 1", "a  b", " a", "a\n\tb", `a\040b`, "/a b", "-", "\xff"} {
		f.Add(seed, "a b")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if a != b && subject(a) == subject(b) && a != "" && b != "" {
			t.Errorf("%q and %q are both written %q", a, b, subject(a))
		}
		got := subject(a)
		if strings.Contains(got, "  ") || got != strings.TrimSpace(got) || strings.ContainsFunc(got, func(r rune) bool { return r != ' ' && !unicode.IsGraphic(r) || r == '\n' || r == '\t' }) {
			t.Errorf("%q is written %q", a, got)
		}
	})
}
