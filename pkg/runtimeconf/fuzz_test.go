package runtimeconf

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"
)

// FuzzLoad wants of any file what containerd's decoder makes of it, or a
// refusal, and positions that are in the file.
func FuzzLoad(f *testing.F) {
	text, err := os.ReadFile("testdata/default-2.4.2.toml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add("version = 2\n" + nri + "disable = true\nplugin_path = '/x'\n")
	f.Add("[plugins.io.containerd.nri.v1.nri]\n[plugins.nri]\ndisable=1\nplugins.'io.containerd.nri.v1.nri'=1")
	f.Add("imports = ['*', '../*/*', '[*', '/etc/containerd/config.toml']")
	f.Add("a" + strings.Repeat(".a", 2000) + " = 1")
	f.Fuzz(func(t *testing.T, text string) {
		files := fakeFiles{DefaultPath: text}
		c := Load(context.Background(), files, DefaultPath, Release{2, 4})
		if diff := cmp.Diff(c, Load(context.Background(), files, DefaultPath, Release{2, 4})); diff != "" {
			t.Fatal("read twice, it differs: ", diff)
		}
		lines := strings.Count(text, "\n") + 1
		for _, problems := range [][]Problem{c.Refused, c.Orphans, c.Unread, c.Lost} {
			for _, p := range problems {
				if p.Line > lines || p.Message == "" {
					t.Errorf("%+v is no place in %d lines", p, lines)
				}
			}
		}
		if c.NRI.RequestTimeout.Value == 0 || c.NRI.PluginPath.Value == "" || c.NRI.SocketPath.Value == "" {
			t.Errorf("a default is missing: %+v", c.NRI)
		}
		if len(c.Refused) > 0 || len(c.Unread) > 0 || len(c.Files) != 1 {
			return
		}
		want, ok := containerds(text)
		if got := c.NRI.EnabledAt.File != "" && c.NRI.Enabled.Truth.String() == "no"; ok && got != want {
			t.Errorf("NRI disabled: %t, containerd's decoder says %t", got, want)
		}
	})
}

// containerds reads a file as containerd does: the plugins into a map, the table
// of NRI out of that.
func containerds(text string) (disabled, ok bool) {
	var config struct {
		Disabled []string       `toml:"disabled_plugins"`
		Plugins  map[string]any `toml:"plugins"`
	}
	if err := toml.Unmarshal([]byte(text), &config); err != nil {
		return false, false
	}
	for _, name := range config.Disabled {
		disabled = disabled || name == nriID
	}
	table, err := toml.Marshal(config.Plugins[nriID])
	if err != nil {
		return disabled, true
	}
	var n struct {
		Disable bool `toml:"disable"`
	}
	if err := toml.Unmarshal(table, &n); err != nil {
		return false, false
	}
	return disabled || n.Disable, true
}
