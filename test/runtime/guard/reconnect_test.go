//go:build linux

package guard_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mountward/mountward/test/runtime/adapt"
	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/ward"
)

// TestRestartsCloseTogether: what was connected is back at once each time,
// however often the runtime restarts. Until it is, containers are created
// without it.
func TestRestartsCloseTogether(t *testing.T) {
	harness.NeedsRoot(t)
	dir := t.TempDir()
	w, cfg, err := ward.New(dir, ward.Options{Policy: goodPolicy})
	if err != nil {
		t.Fatal(err)
	}
	settings, socket := filepath.Join(dir, "mountward.toml"), filepath.Join(dir, "nri.sock")
	if err := os.WriteFile(settings, []byte(cfg.PluginConf["90-mountward.conf"]), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(cfg.Plugins["90-mountward"], "run", "--config", settings, "--socket", socket)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(unix.SIGTERM) // an error says that it has ended
		if err := cmd.Wait(); err != nil {
			t.Errorf("after SIGTERM: %v, want exit code 0", err)
		}
	})

	b := &bench{nil, w, t}
	says := func(from int, text string) {
		t.Helper()
		if _, err := b.Await(t.Context(), from, func(r ward.Record) bool { return strings.Contains(r.Message(), text) }); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
	}
	says(0, "connect to NRI")
	for range 4 {
		before, err := b.Records()
		if err != nil {
			t.Fatal(err)
		}
		r, err := adapt.Start(adapt.Config{})
		if err != nil {
			t.Fatal(err)
		}
		b.Runtime = r
		stop := func() {
			if r == nil {
				return
			}
			if err := r.Stop(); err != nil {
				t.Error(err)
			}
			r = nil
		}
		t.Cleanup(stop)
		// A runtime of its own each time, at the same path.
		if err := os.Symlink(r.Socket, socket+".new"); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(socket+".new", socket); err != nil {
			t.Fatal(err)
		}
		if err := r.WaitSyncs(t.Context(), 2); err != nil {
			t.Fatal(err)
		}
		if err := b.createShared(false); err == nil || !strings.Contains(err.Error(), `rule "no-shared"`) {
			t.Errorf("create: %v, want our refusal", err)
		}
		says(len(before), "synchronized with the runtime")
		stop()
	}
	says(0, "the runtime closed the connection")

	all, err := b.Records()
	if err != nil {
		t.Fatal(err)
	}
	attempts := 0
	for _, r := range all {
		if strings.Contains(r.Message(), "next attempt") {
			attempts++
			if !strings.Contains(r.Message(), "next attempt in about 200ms") {
				t.Errorf("it backs off: %s", r.Message())
			}
		}
	}
	if attempts < 4 {
		t.Errorf("%d lines about a next attempt, want one for each lost connection", attempts)
	}
}
