package show

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/mountward/mountward/pkg/audit"
	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/verify"
	"github.com/mountward/mountward/pkg/volumes"
)

// hostile are names that somebody could choose.
func hostile() []string {
	return []string{
		"a\nmark: twin-view /etc: forged", "a\tb\tc", "a b", "\x1b[2J\x1b[31mred", "a\rb", "a\x00b", "\x9b31m", "\xff\xfe",
		"\u202ereversed", "\u200bzero", `"]; click n1 "javascript:alert(1)"`, "end", "`code`", "**bold**", "_x_", "#quot;", "#35;", "<b>",
		"%%{init: {'theme':'dark'}}%%", "---\ntitle: x\n---", "style n1 fill:#fff;", "1. list", "1.", "- list", "-", "+", "&amp;", `\012`, `|"|`, "a\\", "]]", ")])", "ж",
		"-->", "subgraph x", "\u2028", "https://example.com", "===", strings.Repeat("x", 300), "",
	}
}

// everywhere is a report in which one name stands wherever a name can.
func everywhere(name string) Volumes {
	chain := device.Chain{Tops: 1, Unknown: name, Layers: []device.Layer{
		{Number: dev(253, 1), Name: name, DMName: name, DMUUID: name, Kind: device.LV, LV: &device.LogicalVolume{VG: name, LV: name}, Part: name, Note: name, Lower: []facts.DeviceNumber{dev(8, 0)}, Unknown: name},
		{Number: dev(8, 0), Name: name, Kind: device.Kind(name), Part: name, Note: name, Unknown: name},
	}}
	storage := volumes.Storage{Device: dev(253, 1), FSType: name, Chain: chain, NoLV: name}
	b := volumes.Backing{Device: dev(253, 1), Name: name, DMName: name, LV: name, LVUUID: name, LVs: []string{name, name}, NoLV: name}
	not := volumes.Backing{Device: dev(0, 7), NoLV: name}
	return Volumes{
		Schema: VolumesSchema,
		Node:   Node{Kernel: name, KubeletRoot: name, KubeletEvidence: name, States: []string{name}, Rung: name},
		Targets: []Target{
			{Target: name, Mount: &facts.HostMount{Canonical: name, MountPoint: name, Source: name, FSType: name}, Storage: &storage, Why: name},
			{Target: name, Why: name},
		},
		Tasks: []Task{
			{
				Container: audit.Container{ID: name, Name: name, Image: name, Pod: facts.Pod{Name: name, Namespace: name, UID: name}},
				Namespace: name, Bundle: name, Identity: facts.CannotTell(name),
				Task: volumes.Task{
					Rootfs: volumes.Rootfs{Path: name, FSType: name, Upper: name, Work: name, Lower: []volumes.Lower{{Path: name, Device: dev(253, 1)}, {Path: name, Why: name}}, Backing: b},
					Mounts: []volumes.Mount{
						{Destination: name, Source: name, Root: name, Kind: name, Volume: name, PodUID: name, SubPath: true, Driver: name, Handle: name, HintWhy: name, FSType: name, Why: name, Views: []volumes.View{{Path: name, Role: name, Root: name}}, ViewsWhy: name, Backing: b},
						{Destination: name, Source: name, Backing: not, Submounts: &volumes.Submounts{Count: 2, First: []volumes.Submount{{Destination: name, FSType: name, Backing: not}}, LVs: []string{name}}},
					},
					Raw:        []volumes.Raw{{Path: name, Volume: name, Driver: name, Handle: name, Kind: name, Backing: b}, {Path: name, Backing: not}},
					RawOmitted: 1, Storage: []volumes.Storage{storage},
				},
			},
			{Container: audit.Container{ID: name}, Namespace: name},
		},
		Marks:   []volumes.Mark{{Code: name, Path: name, Why: name, Evidence: []string{name}, Backing: b}},
		Unknown: []volumes.Unknown{{What: name, Why: name}},
	}
}

// TestANameIsOneWordOfOneLine: whatever somebody calls a pod, a path or a
// device, the lines are as many as with a plain name, and a terminal gets
// nothing but text.
func TestANameIsOneWordOfOneLine(t *testing.T) {
	for format, write := range map[string]func(io.Writer, string) error{
		"table":   func(w io.Writer, name string) error { return VolumesTable(w, everywhere(name)) },
		"tree":    func(w io.Writer, name string) error { return VolumesTree(w, everywhere(name)) },
		"mermaid": func(w io.Writer, name string) error { return mermaid(w, everywhere(name)) },
		"verify":  func(w io.Writer, name string) error { return VerifyTable(w, verificationOf(name)) },
	} {
		plain := text(t, func(w io.Writer) error { return write(w, "x") })
		for _, name := range hostile() {
			got := text(t, func(w io.Writer) error { return write(w, name) })
			if name != "" && strings.Count(got, "\n") != strings.Count(plain, "\n") {
				t.Errorf("%s: %q makes %d lines of %d:\n%s", format, name, strings.Count(got, "\n"), strings.Count(plain, "\n"), got)
			}
			if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
				t.Errorf("%s: %q reaches the terminal: %q", format, name, got)
			}
			if format == "mermaid" {
				if _, err := parse(got); err != nil {
					t.Errorf("%q: %v in\n%s", name, err, got)
				}
			}
		}
	}
}

// TestJSONKeepsEveryByte: text that is not UTF-8 is there under the name that
// audit gives it.
func TestJSONKeepsEveryByte(t *testing.T) {
	for _, name := range hostile() {
		var got struct {
			Tasks []struct {
				Mounts []struct {
					Destination string `json:"destination"`
					Bytes       []byte `json:"destination_b64"`
				} `json:"mounts"`
			} `json:"tasks"`
		}
		out := text(t, func(w io.Writer) error { return JSON(w, everywhere(name)) })
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		m := got.Tasks[0].Mounts[0]
		if m.Destination+string(m.Bytes) != name {
			t.Errorf("%q became %q and %q", name, m.Destination, m.Bytes)
		}
	}
}

func verificationOf(name string) Verification {
	return Verification{Tasks: []VerifiedTask{
		{
			Container: audit.Container{ID: name, Name: name, Pod: facts.Pod{Name: name, Namespace: name}}, Namespace: name, Why: name,
			Mounts: []VerifiedMount{{Proof: verify.Proof{Destination: name, Source: name, Reason: name, Verdict: verify.Drift}}},
		},
		{Container: audit.Container{ID: name}, Namespace: name},
	}}
}

func FuzzWord(f *testing.F) {
	for _, s := range hostile() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Word(s)
		if got == "" || strings.ContainsFunc(got, func(r rune) bool { return r == ' ' || !unicode.IsPrint(r) }) {
			t.Errorf("%q is not one word: %q", s, got)
		}
		if s != "" && unword(t, got) != s {
			t.Errorf("%q became %q, which is %q", s, got, unword(t, got))
		}
	})
}

// unword reads a word as the kernel's escapes are read.
func unword(t *testing.T, s string) string {
	t.Helper()
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		if i+3 >= len(s) {
			t.Fatalf("%q ends within an escape", s)
		}
		b.WriteByte((s[i+1]-'0')<<6 | (s[i+2]-'0')<<3 | (s[i+3] - '0'))
		i += 3
	}
	return b.String()
}
