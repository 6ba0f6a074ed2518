package settings

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/internal/strict"
)

const shipped = "../../config/mountward.toml"

func TestShippedFileIsTheDefaults(t *testing.T) {
	data, err := os.ReadFile(shipped)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse(shipped, data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Default(), got); diff != "" {
		t.Errorf("-default +shipped\n%s", diff)
	}
	document, err := strict.Decode(shipped, data, &Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys(reflect.TypeFor[Settings]()) {
		if !document.Has(key...) {
			t.Errorf("%s does not show the key %v", shipped, key)
		}
	}
}

func keys(t reflect.Type) (all [][]any) {
	for field := range t.Fields() {
		name := field.Tag.Get("toml")
		if field.Type.Kind() != reflect.Struct {
			all = append(all, []any{name})
			continue
		}
		for _, below := range keys(field.Type) {
			all = append(all, append([]any{name}, below...))
		}
	}
	return all
}

func TestParseEveryKey(t *testing.T) {
	got, err := Parse("m.toml", []byte(`
policy = "/p"
state_dir = "/s"
runtime_dir = "/r"
log.level = "debug"
[audit]
journal = false
file = "/a.jsonl"
decisions = "all"
[guard]
on_policy_error = "deny"
on_unmet_raise = "deny"
on_unmet_lower = "leave"
[apply]
namespace = true
[host]
kubelet_root = "/k"
runtime_root = "/"
runtime_state = "/run/c"
require_shared = ["/", "/sys/fs/bpf"]
`))
	if err != nil {
		t.Fatal(err)
	}
	want := Settings{
		Policy: "/p", StateDir: "/s", RuntimeDir: "/r",
		Audit: Audit{Journal: false, File: "/a.jsonl", Decisions: DecisionsAll},
		Guard: Guard{PolicyErrorDeny, UnmetDeny, UnmetLeave},
		Apply: Apply{Namespace: true},
		Host:  Host{"/k", "/", "/run/c", []string{"/", "/sys/fs/bpf"}},
		Log:   Log{LevelDebug},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if got.ContainersDir() != "/r/containers" {
		t.Errorf("ContainersDir() = %q", got.ContainersDir())
	}
}

func TestParseKeepsDefaultsOfKeysNotGiven(t *testing.T) {
	want := Default()
	want.Audit.Decisions = DecisionsAll
	got, err := Parse("m.toml", []byte("[audit]\ndecisions = \"all\"\n"))
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v, -want +got\n%s", err, diff)
	}
}

func TestParseNamesEveryMistakeWithItsPlace(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"relative", "policy = \"p.toml\"\n", `m.toml:1:1: "policy": want an absolute path, found "p.toml"`},
		{"empty", "policy = \"\"\n", `m.toml:1:1: "policy": want an absolute path, found ""`},
		{"not clean", "\nstate_dir = \"/var//lib/\"", `m.toml:2:1: "state_dir": want a clean path, found "/var//lib/"; write "/var/lib"`},
		{"root", `runtime_dir = "/"`, `m.toml:1:1: "runtime_dir": want a path below "/"`},
		{"NUL", `policy = "/a\u0000"`, `m.toml:1:1: "policy": want a path, found "/a\x00": no path holds a NUL`},
		{"audit file", "[audit]\nfile = \"x\"", `m.toml:2:1: "audit.file": want an absolute path, found "x"`},
		{"decisions", "[audit]\n  decisions = \"none\"", `m.toml:2:3: "audit.decisions": want "changed" or "all", found "none"`},
		{"case of a word", "audit.decisions = \"All\"", `m.toml:1:7: "audit.decisions": want "changed" or "all", found "All"`},
		{"policy error", "guard.on_policy_error = \"leave\"", `want "audit" or "deny", found "leave"`},
		{"unmet", "guard.on_unmet_raise = \"audit\"\nguard.on_unmet_lower = \"\"", `want "leave" or "deny", found "audit"`},
		{"level", "log.level = \"warn\"", `"log.level": want "error", "warning", "info" or "debug", found "warn"`},
		{"auto", "host.kubelet_root = \"Auto\"", `"host.kubelet_root": want an absolute path or "auto", found "Auto"`},
		{"two mistakes, both told", "policy = \"p\"\nlog.level = \"x\"", "m.toml:1:1: \"policy\": want an absolute path, found \"p\"\nm.toml:2:5:"},
		{"unknown key", "polcy = \"/p\"", "m.toml:1:1: unknown key \"polcy\""},
		{"a table that is not known", "[metrics]\nnamespace = true", "m.toml:1:"},
		{"case of a key", "\nPolicy = \"p\"", "m.toml:2:1: unknown key \"Policy\": write \"policy\", keys are case-sensitive\nm.toml:2:1: \"policy\": want an absolute path"},
		{"an unknown key hides no other mistake", "x = 1\npolicy = \"p\"", "m.toml:1:1: unknown key \"x\" (known here: apply, audit, guard, host, log, policy, runtime_dir, state_dir)\nm.toml:2:1: \"policy\": want an absolute path"},
		{"type", "[audit]\njournal = \"yes\"", "m.toml:2:11: \"audit.journal\": want true or false"},
		{"a list of tables", "[[audit]]\njournal = true", "m.toml:1:"},
		{"no TOML", "policy = ", "m.toml:1:"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Parse("m.toml", []byte(test.text))
			if err == nil {
				t.Fatalf("no error, %+v", got)
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("got  %s\nwant %s", err, test.want)
			}
			want := Default()
			if test.name == "list" {
				want.Host.RequireShared = []string{"/a"} // the good ones
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("what is wrong must have its default: -want +got\n%s", diff)
			}
		})
	}
}

// TestAMistakeForgetsNothingElse: what a node was told beside the mistake
// holds.
func TestAMistakeForgetsNothingElse(t *testing.T) {
	const text = `policy = "/p"
state_dir = "/s"
runtime_dir = "/r"
[audit]
journal = false
file = "/a.jsonl"
decisions = "all"
[guard]
on_policy_error = "deny"
on_unmet_raise = "deny"
on_unmet_lower = "leave"
[apply]
namespace = true
[host]
kubelet_root = "/k"
runtime_root = "/"
runtime_state = "/run/c"
require_shared = ["/", "/sys/fs/bpf"]
[log]
level = "debug"
`
	whole, err := Parse("m.toml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, old, new string
		lost           func(*Settings) // what cannot be read any more
	}{
		{"an unknown key", "[audit]\n", "[audit]\njurnal = true\n", nil},
		{"an unknown table", "[audit]\n", "[notify]\nnamespace = true\n[audit]\n", nil},
		{"a wrong type", `policy = "/p"`, `policy = 1`, func(s *Settings) { s.Policy = Default().Policy }},
		{"a wrong value", `"/s"`, `"s"`, func(s *Settings) { s.StateDir = Default().StateDir }},
		{"a wrong word", `"all"`, `"none"`, func(s *Settings) { s.Audit.Decisions = Default().Audit.Decisions }},
		{"a wrong element", `["/", `, `["/", "x", `, nil},
		{"an element of a wrong type", `["/", `, `["/", 1, `, func(s *Settings) { s.Host.RequireShared = nil }},
		{"another case", "state_dir", "State_Dir", nil},
		{"another case of a table", "[guard]", "[Guard]", nil},
		{"a list of tables", "[guard]", "[[guard]]", nil},
		{"a key given twice", "[audit]\n", "[audit]\njournal = false\n", nil},
		{"a table given twice", "[log]", "[guard]\n[log]", nil},
		{"no quotes", `policy = "/p"`, `policy = /p`, func(s *Settings) { s.Policy = Default().Policy }},
		{"an open quote", `policy = "/p"`, `policy = "/p`, func(s *Settings) { s.Policy = Default().Policy }},
		{"no value", `decisions = "all"`, `decisions =`, func(s *Settings) { s.Audit.Decisions = Default().Audit.Decisions }},
		{"no sense", "[audit]\n", "[audit]\n}{ # ]]\n", nil},
		{"a line break in a comment", "[audit]\n", "# a\x00b\n[audit]\n", nil},
		{"something behind a value", `journal = false`, `journal = false file = 1`, nil},
		{"something behind a header", "[audit]", "[audit] x", nil},
		{"an open list", `["/", "/sys/fs/bpf"]`, `["/",`, func(s *Settings) { s.Host.RequireShared = nil }},
		{"an open header", "[log]", "[log", func(s *Settings) { s.Log = Default().Log }},
		{"a byte order mark", "policy = \"/p", "\xef\xbb\xbfpolicy = \"/p", nil},
		{"line ends of CR alone", "\n", "\r", nil},
		{"deny without quotes", `"deny"`, `deny`, func(s *Settings) { s.Guard.OnUnmetRaise = Default().Guard.OnUnmetRaise }},
		{"deny in another case", `on_policy_error = "deny"`, `on_policy_error = "Deny"`, nil},
		{"deny under another header", "[guard]", "[gard]", func(s *Settings) {
			s.Guard = Default().Guard
			s.Guard.OnPolicyError = PolicyErrorDeny
		}},
		{"deny and audit", `on_policy_error = "deny"`, "on_policy_error = \"audit\"\non_policy_error = \"deny\"", nil},
		{"deny with a misspelled key", `on_policy_error`, `on_policy_eror`, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			bad := strings.ReplaceAll(text, test.old, test.new)
			want := whole
			if test.lost != nil {
				test.lost(&want)
			}
			got, err := Parse("m.toml", []byte(bad))
			if err == nil || bad == text {
				t.Fatalf("no mistake in %s", bad)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%v: -want +got\n%s", err, diff)
			}
		})
	}
}

// TestDenyIsSeenInATextThatIsNoTOML, and in no comment, and only there.
func TestDenyIsSeenInATextThatIsNoTOML(t *testing.T) {
	wide := func(text string) string {
		return "\xff\xfe" + strings.Join(strings.Split(text, ""), "\x00") + "\x00"
	}
	for text, want := range map[string]OnPolicyError{
		"]]}{\nguard = { on_policy_error = \"deny\"\n":    PolicyErrorDeny,
		"<guard on_policy_error='deny'>":                  PolicyErrorDeny,
		wide("[guard]\non_policy_error = \"deny\"\n"):     PolicyErrorDeny,
		"]]\n# on_policy_error = \"deny\"\n":              PolicyErrorAudit,
		"]]\n[guard]\non_policy_error = \"audit\" # deny": PolicyErrorAudit,
		"]]\n[guard]\non_unmet_lower = \"deny\"":          PolicyErrorAudit,
		"":                                                PolicyErrorAudit,
		"# on_policy_error = \"deny\"":                    PolicyErrorAudit,
	} {
		if got, err := Parse("m.toml", []byte(text)); got.Guard.OnPolicyError != want {
			t.Errorf("%q: %s, want %s (%v)", text, got.Guard.OnPolicyError, want, err)
		}
	}
}

func TestMistaken(t *testing.T) {
	shipped, err := os.ReadFile(shipped)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		string(shipped):                true,
		"state_dir = \"/x\"":           true,
		"[audit]\nfile = ":             true,
		"":                             false,
		"version = 1\npolicy = \"a\"":  false,
		"[[rule]]\naction = 1\n[host]": false,
		"colour = 1":                   false,
	} {
		if got := Mistaken([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	if data, err := os.ReadFile(shipped); err == nil {
		f.Add(data)
	}
	f.Add([]byte("host.require_shared = [\"/a\", \"/a\"]\npolicy='/x'"))
	f.Add([]byte("[[audit]]\nfile = 3"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse("f.toml", data)
		if err != nil && !strings.HasPrefix(err.Error(), "f.toml:") {
			t.Fatal(err)
		}
		for _, p := range append([]string{s.Policy, s.StateDir, s.RuntimeDir}, s.Host.RequireShared...) {
			if !filepath.IsAbs(p) || filepath.Clean(p) != p {
				t.Fatalf("path %q", p)
			}
		}
	})
}
