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
		{"list", "host.require_shared = [\"/a\",\n \"b\", \"/a\"]", "m.toml:2:2: \"host.require_shared[1]\": want an absolute path, found \"b\"\nm.toml:2:7: \"host.require_shared[2]\": \"/a\" is listed twice"},
		{"two mistakes, both told", "policy = \"p\"\nlog.level = \"x\"", "m.toml:1:1: \"policy\": want an absolute path, found \"p\"\nm.toml:2:5:"},
		{"unknown key", "polcy = \"/p\"", "m.toml:1:1: unknown key \"polcy\""},
		{"a key of a later issue", "[apply]\nnamespace = true", "m.toml:1:"},
		{"case of a key", "Policy = \"/p\"", "m.toml:1:1: unknown key \"Policy\""},
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
			if diff := cmp.Diff(Default(), got); diff != "" {
				t.Errorf("a mistake must leave the defaults: -default +got\n%s", diff)
			}
		})
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
		if err != nil {
			if diff := cmp.Diff(Default(), s); diff != "" || !strings.HasPrefix(err.Error(), "f.toml:") {
				t.Fatalf("%v\n%s", err, diff)
			}
			return
		}
		for _, p := range append([]string{s.Policy, s.StateDir, s.RuntimeDir}, s.Host.RequireShared...) {
			if !filepath.IsAbs(p) || filepath.Clean(p) != p {
				t.Fatalf("path %q", p)
			}
		}
	})
}
