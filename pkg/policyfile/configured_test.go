package policyfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/policy"
	"github.com/mountward/mountward/pkg/settings"
)

func node(t *testing.T) settings.Settings {
	t.Helper()
	dir := t.TempDir()
	s := settings.Default()
	s.Policy = filepath.Join(dir, "etc", "policy.toml")
	s.StateDir = filepath.Join(dir, "state")
	return s
}

// one is a policy of one file.
func one(name, data string, origin Origin) Set {
	return Set{Main: policy.File{Name: name, Data: []byte(data)}, Origin: origin}
}

// beside returns a path from the directory of the policy.
func beside(s settings.Settings, names ...string) string {
	return filepath.Join(append([]string{filepath.Dir(s.Policy)}, names...)...)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o644))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("error %v", err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("error %v, want %q", err, want)
	}
}

var asText = cmp.Transformer("text", func(data []byte) string { return string(data) })

func TestTheBuiltInPolicyStandsInOnlyWhereThereNeverWasAnother(t *testing.T) {
	const builtin = "built in"
	for _, test := range []struct {
		name      string
		prepare   func(t *testing.T, s settings.Settings)
		explicit  bool
		noBuiltin bool
		want      Origin
		wantErr   string
	}{
		{name: "a file", prepare: func(t *testing.T, s settings.Settings) { write(t, s.Policy, "rules") }, want: OriginFile},
		{name: "an empty file is a file", prepare: func(t *testing.T, s settings.Settings) { write(t, s.Policy, "") }, want: OriginFile},
		{name: "nothing at the default path", prepare: func(*testing.T, settings.Settings) {}, want: OriginBuiltIn},
		{
			name: "an empty directory of drop-ins",
			prepare: func(t *testing.T, s settings.Settings) {
				write(t, beside(s, "policy.d", "README"), "x")
			},
			want: OriginBuiltIn,
		},
		{
			name: "the built-in one was in force before",
			prepare: func(t *testing.T, s settings.Settings) {
				must(t, SaveLastGood(s, one(BuiltInName, builtin, OriginBuiltIn)))
			},
			want: OriginBuiltIn,
		},
		{
			name:     "nothing at a path that was set",
			prepare:  func(*testing.T, settings.Settings) {},
			explicit: true,
			wantErr:  "no such file or directory; the settings name this file",
		},
		{
			name: "the default file was loaded once and is gone",
			prepare: func(t *testing.T, s settings.Settings) {
				must(t, SaveLastGood(s, one("/etc/x.toml", "rules", OriginFile)))
			},
			wantErr: "but a policy from /etc/x.toml was in force before",
		},
		{
			name:      "gone while in force, never kept",
			prepare:   func(*testing.T, settings.Settings) {},
			noBuiltin: true,
			wantErr:   "but a policy file is in force",
		},
		{
			name:    "whether it was loaded cannot be told",
			prepare: func(t *testing.T, s settings.Settings) { write(t, lastGoodPath(s), "damaged") },
			wantErr: "cannot be told",
		},
		{
			name:    "the state directory cannot be read",
			prepare: func(t *testing.T, s settings.Settings) { write(t, s.StateDir, "a file") },
			wantErr: "cannot be told",
		},
		{
			name: "a link that leads nowhere",
			prepare: func(t *testing.T, s settings.Settings) {
				must(t, os.MkdirAll(beside(s), 0o755))
				must(t, os.Symlink("nowhere", s.Policy))
			},
			wantErr: "no such file",
		},
		{
			name:    "a directory",
			prepare: func(t *testing.T, s settings.Settings) { must(t, os.MkdirAll(s.Policy, 0o755)) },
			wantErr: "not a regular file",
		},
		{
			name:    "drop-ins without a policy",
			prepare: func(t *testing.T, s settings.Settings) { write(t, beside(s, "policy.d", "10-x.toml"), "x") },
			wantErr: "no such file or directory, but there are drop-ins in ",
		},
		{
			name: "a drop-in that leads nowhere, without a policy",
			prepare: func(t *testing.T, s settings.Settings) {
				must(t, os.MkdirAll(beside(s, "policy.d"), 0o755))
				must(t, os.Symlink("nowhere", beside(s, "policy.d", "x.toml")))
			},
			wantErr: "policy.d/x.toml: no such file",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := node(t)
			test.prepare(t, s)
			offered := []byte(builtin)
			if test.noBuiltin {
				offered = nil
			}
			got, err := configured(s, offered, !test.explicit)
			wantError(t, err, test.wantErr)
			if got.Origin != test.want {
				t.Errorf("from %q, want %q", got.Origin, test.want)
			}
		})
	}
}

func TestAPolicyPathThatWasSetIsNeverBuiltIn(t *testing.T) {
	s := node(t)
	if got, err := Configured(s, []byte("built in")); err == nil {
		t.Errorf("%s is not the default path, got %+v", s.Policy, got)
	}
}
