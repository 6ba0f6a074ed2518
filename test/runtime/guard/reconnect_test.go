//go:build linux

package guard_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mountward/mountward/test/runtime/adapt"
	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/matrix"
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
		if b.Runtime, err = adapt.Start(adapt.Config{}); err != nil {
			t.Fatal(err)
		}
		runtime := b.Runtime
		t.Cleanup(func() { _ = runtime.Stop() }) // a second time where all went well
		// An adaptation that is stopped keeps its connections.
		wire := wireTo(t, runtime.Socket, socket)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		if err := runtime.WaitSyncs(ctx, 2); err != nil {
			t.Fatal(err)
		}
		cancel()
		if err := b.createShared(false); err == nil || !strings.Contains(err.Error(), `rule "no-shared"`) {
			t.Errorf("create: %v, want our refusal", err)
		}
		says(len(before), ward.Synchronized)
		wire.close()
		says(len(before), "no connection to the runtime")
		if err := runtime.Stop(); err != nil {
			t.Error(err)
		}
	}

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

// TestReconnectingLeaksNothing in the daemon: descriptors and threads are as
// many after the last restart of containerd as after the first.
func TestReconnectingLeaksNothing(t *testing.T) {
	s := startService(t, matrix.Policy)
	s.says(0, ward.Synchronized)
	open := func() int {
		t.Helper()
		files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.cmd.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		return len(files)
	}
	var before int
	for n := range 6 {
		from := s.records()
		if err := s.Restart(); err != nil {
			t.Fatal(err)
		}
		s.says(from, ward.Synchronized)
		if n == 0 {
			before = open()
		}
	}
	for end := time.Now().Add(time.Minute); open() > before; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d descriptors, %d after the first restart", open(), before)
		}
	}
}
