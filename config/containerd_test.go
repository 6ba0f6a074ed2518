package config_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/runtimeconf"
)

const dropIn = "/etc/containerd/conf.d/50-mountward.toml"

// etc is a directory of files that nothing links to.
type etc map[string]string

func (e etc) Canonical(_ context.Context, path string) (string, error) { return path, nil }

func (e etc) ReadFile(_ context.Context, path string, _ int) ([]byte, error) {
	text, ok := e[path]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(text), nil
}

func (e etc) ReadDir(_ context.Context, dir string, _ int) (names []string, err error) {
	for path := range e {
		if filepath.Dir(path) == dir {
			names = append(names, filepath.Base(path))
		}
	}
	if names == nil {
		return nil, fs.ErrNotExist
	}
	return names, nil
}

// TestDropIn: the shipped drop-in requires mountward of every containerd that can
// require it and imports the file, and tolerates nobody, even where an earlier
// file does.
func TestDropIn(t *testing.T) {
	text, err := os.ReadFile("containerd/50-mountward.toml")
	if err != nil {
		t.Fatal(err)
	}
	const tolerant = "version = 2\n[plugins.\"io.containerd.nri.v1.nri\".default_validator]\nenable = false\ntolerate_missing_plugins_annotation = \"example.com/t\"\n"
	const imports = "imports = [\"/etc/containerd/conf.d/*.toml\"]\n"
	for _, test := range []struct {
		name, main, release string
		want                bool
	}{
		{"version 2", "version = 2\n" + imports, "v2.2.0", true},
		{"version 3", "version = 3\n" + imports, "v2.3.1", true},
		{"version 4", "version = 4\n" + imports, "v2.4.2", true},
		{"not imported", "version = 4\n", "v2.4.2", false},
	} {
		files := etc{runtimeconf.DefaultPath: test.main, dropIn: string(text), filepath.Dir(dropIn) + "/20-other.toml": tolerant}
		c := runtimeconf.Load(t.Context(), files, runtimeconf.DefaultPath, runtimeconf.ParseRelease(test.release))
		v := c.NRI.Validator
		if got := c.Requires("mountward"); got != test.want || v.TolerateMissing.Value != "" {
			t.Errorf("%s: required %t, want %t; tolerates %q", test.name, got, test.want, v.TolerateMissing.Value)
		}
		if diff := cmp.Diff([]runtimeconf.Problem(nil), append(c.Refused, c.Orphans...)); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", test.name, diff)
		}
	}
}
