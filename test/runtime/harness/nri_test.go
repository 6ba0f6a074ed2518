//go:build linux

package harness

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// emptyPlugin is a configuration in which the empty plugin writes to a file
// what it is asked.
func emptyPlugin(t *testing.T) (Config, string) {
	t.Helper()
	b, err := Build(os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	record := filepath.Join(t.TempDir(), "record")
	return Config{
		Binaries:   b,
		Plugins:    map[string]string{"90-empty": b.EmptyPlugin},
		PluginConf: map[string]string{"90-empty.conf": record},
	}, record
}

func TestLaunchedPluginIsAsked(t *testing.T) {
	NeedsRoot(t)
	cfg, record := emptyPlugin(t)
	s := New(t, cfg)
	s.Run(Pod{Namespace: "shop", Name: "cart", Containers: []Container{{Name: "web"}}})
	got, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	if want := "configure containerd v2.4.2 v0.12.3\ncreate shop/cart/web\nstart shop/cart/web\n"; string(got) != want {
		t.Errorf("plugin was asked %q, want %q", got, want)
	}
}

func TestNoLaunch(t *testing.T) {
	NeedsRoot(t)
	for name, change := range map[string]func(*Config){
		"no launch": func(c *Config) { c.NoLaunch = true },
		"no NRI":    func(c *Config) { c.NoNRI = true },
	} {
		cfg, record := emptyPlugin(t)
		change(&cfg)
		s := New(t, cfg)
		s.RunOne(Container{})
		if _, err := os.Stat(record); !os.IsNotExist(err) {
			t.Errorf("%s: plugin was asked", name)
		}
		_, err := os.Stat(s.NRISocket)
		if listens := err == nil; listens == cfg.NoNRI {
			t.Errorf("%s: NRI listens: %t", name, listens)
		}
	}
}

// TestVersions holds the reason for this module: its NRI is the one that
// containerd has, which the parent module's newer one would replace.
func TestVersions(t *testing.T) {
	module, err := moduleDir()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "list", "-m", "all")
	cmd.Dir = module
	cmd.Env = append(os.Environ(), "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	versions := make(map[string]string)
	for line := range strings.Lines(string(out)) {
		name, version, _ := strings.Cut(strings.TrimSpace(line), " ")
		versions[name] = version
	}
	for name, want := range map[string]string{
		"github.com/containerd/nri":           "v0.12.3",
		"github.com/containerd/containerd/v2": "v2.4.2",
		"github.com/opencontainers/runc":      "v1.5.3",
	} {
		if got := versions[name]; got != want {
			t.Errorf("version of %s = %q, want %q", name, got, want)
		}
	}
	if version, ok := versions["github.com/mountward/mountward"]; ok {
		t.Errorf("module requires its parent %s", version)
	}
}
