package doctor

import (
	"strings"
	"testing"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/namespaces"
)

// TestOneLineTellsTheWorst: a problem before what cannot be told, and that
// before that all is sound.
func TestOneLineTellsTheWorst(t *testing.T) {
	problem := Finding{Code: "not-shared", Answer: facts.No, Subject: "/var/lib/kubelet", Message: "it is private"}
	other := Finding{Code: "mount-max", Answer: facts.No, Subject: "/", Message: "39099 of 100000"}
	open := Finding{Code: "shared", Answer: facts.Unknown, Subject: "/sys", Message: "permission denied"}
	sound := Finding{Code: "shared", Answer: facts.Yes, Subject: "/run", Message: "it is shared"}
	unread := namespaces.Unknown{What: "process 7", Why: "permission denied"}
	for name, test := range map[string]struct {
		findings []Finding
		unknown  []namespaces.Unknown
		want     string
	}{
		"nothing was looked at":    {nil, nil, "mount propagation is sound, checks: 0"},
		"all sound":                {[]Finding{sound, sound}, nil, "mount propagation is sound, checks: 2"},
		"one problem":              {[]Finding{sound, open, problem}, nil, "not-shared /var/lib/kubelet: it is private (1 unknown)"},
		"the first of two":         {[]Finding{sound, problem, other}, nil, "not-shared /var/lib/kubelet: it is private (+1)"},
		"a problem and all else":   {[]Finding{open, other, problem}, []namespaces.Unknown{unread}, "mount-max /: 39099 of 100000 (+1, 2 unknown)"},
		"the subject once":         {[]Finding{{Code: "not-shared", Answer: facts.No, Subject: "/k", Message: "/k is on /"}}, nil, "not-shared /k: is on /"},
		"cannot tell":              {[]Finding{sound, open}, []namespaces.Unknown{unread}, "cannot tell: shared /sys: permission denied (1 unknown)"},
		"cannot tell what is read": {[]Finding{sound}, []namespaces.Unknown{unread}, "cannot tell: process 7: permission denied"},
	} {
		if got := (Document{Findings: test.findings, Unknown: test.unknown}).OneLine(); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestOneLineOfAPartIsNotThatOfTheNode: what is not worse than before, or of one
// pod, can be on a node that is not sound.
func TestOneLineOfAPartIsNotThatOfTheNode(t *testing.T) {
	sound := []Finding{{Code: "mounts-grow", Answer: facts.Yes, Subject: "mount table of pid 1", Message: "64 mounts"}}
	problem := []Finding{{Code: "doubling", Answer: facts.No, Subject: "/run", Message: "64 mounts"}}
	for want, d := range map[string]Document{
		"nothing worse than the baseline, problems as before: 3":   {Baseline: "b.json", Kept: 3, Findings: sound},
		"nothing worse than the baseline, problems as before: 0":   {Baseline: "b.json", Findings: sound},
		"doubling /run: 64 mounts":                                 {Baseline: "b.json", Kept: 3, Findings: problem},
		"the mounts are the kubelet's, containers: 1, pod csi":     {Pod: "csi", Findings: sound},
		"cannot tell: x: gone":                                     {Baseline: "b.json", Unknown: []namespaces.Unknown{{What: "x", Why: "gone"}}},
		"the mounts are the kubelet's, containers: 1, pod a?mo...": {Pod: "a\nmount propagation is sound, checks: 12", Findings: sound},
	} {
		if got := d.OneLine(); got != want && (len(got) != MaxOneLine || !strings.HasPrefix(got, strings.TrimSuffix(want, "..."))) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestOneLineKeepsWhatIsNotNamed: the count of the rest is there however long
// the names are.
func TestOneLineKeepsWhatIsNotNamed(t *testing.T) {
	f := Finding{Code: "not-shared", Answer: facts.No, Subject: "/" + strings.Repeat("x", 4096), Message: "private"}
	got := (Document{Findings: []Finding{f, f, f}}).OneLine()
	if len(got) != MaxOneLine || !strings.HasPrefix(got, "not-shared /xxx") || !strings.HasSuffix(got, "x... (+2)") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}

// FuzzOneLine: whatever the names are, it is one short line of ASCII, and says
// "sound" of nothing but what is.
func FuzzOneLine(f *testing.F) {
	f.Add("not-shared", "/a\nb", "\x1b[31m\xff", uint8(2), 3)
	f.Add("", "", "", uint8(0), 0)
	f.Add("c", strings.Repeat("é", 100), "m", uint8(1), 1<<20)
	f.Fuzz(func(t *testing.T, code, subject, message string, answer uint8, more int) {
		findings := []Finding{{Code: code, Subject: subject, Message: message, Answer: facts.Truth(answer % 3)}}
		for range more % 100 {
			findings = append(findings, findings[0])
		}
		got := (Document{Findings: findings}).OneLine()
		if len(got) > MaxOneLine || got == "" || strings.ContainsFunc(got, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("%d bytes: %q", len(got), got)
		}
		if sound := strings.HasPrefix(got, "mount propagation is sound"); sound != (findings[0].Answer == facts.Yes) && !strings.HasPrefix(code, "mount") {
			t.Errorf("answer %v: %q", findings[0].Answer, got)
		}
	})
}
