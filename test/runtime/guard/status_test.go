//go:build linux

package guard_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/ward"
)

// TestStatusOfALaunchedPlugin: what it says of failing closed is what this
// containerd holds, and what the policy would refuse is counted by rule, also
// over a restart, and anew with another policy.
func TestStatusOfALaunchedPlugin(t *testing.T) {
	const watching = "version = 1\nmode = \"audit\"\ndefault = \"allow\"\n[[rule]]\nname = \"no-shared\"\nmatch.propagation = [\"shared\"]\naction = \"deny\"\n"
	g := start(t, ward.Options{Policy: watching, Config: harness.Config{TOML: requiredMountward}})
	dir := harness.TestHostDirs(t).Shared.Path
	settings := filepath.Join(g.Dir, "mountward.toml")
	text := g.settingsText(t)
	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	binary, err := ward.Binary()
	if err != nil {
		t.Fatal(err)
	}
	ask := func(args ...string) (ward.Record, int) {
		t.Helper()
		cmd := exec.Command(binary, append(args, "--config", settings, "-o", "json")...)
		out, err := cmd.Output()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		var r ward.Record
		if err := json.Unmarshal(out, &r); err != nil {
			t.Fatalf("%v: %v in %s, %s", args, err, out, exit.Stderr)
		}
		return r, cmd.ProcessState.ExitCode()
	}
	want := func(what string, r ward.Record, value any, path ...any) {
		t.Helper()
		if got := r.At(path...); got != value {
			t.Errorf("%s: %v = %v, want %v", what, path, got, value)
		}
	}

	ready := func(when string) {
		t.Helper()
		for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
			if out, err := exec.Command(binary, "status", "--ready", "--config", settings).CombinedOutput(); err == nil {
				return
			} else if time.Now().After(end) {
				t.Fatalf("not ready %s: %v, %s", when, err, out)
			}
		}
	}
	ready("at first")
	s, code := ask("status")
	if code != 0 {
		t.Errorf("status: %d, %v", code, s["problems"])
	}
	want("status", s, true, "launched")
	want("status", s, true, "connection", "synchronized")
	want("status", s, "v0.12.3", "connection", "nri_version")
	want("status", s, 2000.0, "connection", "request_timeout_ms")
	want("status", s, 1400.0, "connection", "deadline_ms")
	want("status", s, "audit", "policy", "mode")
	parts := map[string]any{}
	all, _ := s["fail_closed"].([]any)
	for _, p := range all {
		part, _ := p.(map[string]any)
		name, _ := part["name"].(string)
		parts[name] = part["answer"]
	}
	for name, answer := range map[string]string{
		"own_deadline": "yes", "validator": "yes", "required_plugins": "yes", "no_toleration": "yes", "failure_policy": "no", "namespace_applier": "no",
	} {
		if parts[name] != answer {
			t.Errorf("%s: %v, want %s; %v", name, parts[name], answer, all)
		}
	}

	pod := one(dir)
	pod.Containers[0].Privileged = true
	pod.Containers[0].Mounts[0].Propagation = harness.Bidirectional
	g.runOne(pod)
	g.runOne(one(dir))
	refusals := func(what string, containers float64) {
		t.Helper()
		r, code := ask("status", "--ready-to-enforce")
		if code != 1 {
			t.Errorf("%s: exit code %d, want 1", what, code)
		}
		want(what, r, "no-shared", "tally", "refusals", 0, "rule")
		want(what, r, containers, "tally", "refusals", 0, "containers")
		want(what, r, "/data", "tally", "refusals", 0, "example", "mount")
	}
	refusals("one", 1)
	if err := g.Restart(); err != nil {
		t.Fatal(err)
	}
	ready("after containerd's restart")
	refusals("after a restart", 1)
	g.runOne(pod)
	refusals("one more", 2)

	if err := g.WritePolicy(strings.Replace(watching, "no-shared", "none-shared", 1)); err != nil {
		t.Fatal(err)
	}
	// The count is of the policy in force, which is not that of the file any more.
	if r, code := ask("status", "--ready-to-enforce"); code != 2 {
		t.Errorf("a policy that was not loaded yet: exit code %d, %v", code, r["answer"])
	}
	if _, err := g.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	counted := func(rule string, containers float64) {
		t.Helper()
		for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
			r, code := ask("status", "--ready-to-enforce")
			if code == 1 && r.At("tally", "refusals", 0, "rule") == rule && r.At("tally", "refusals", 0, "containers") == containers {
				want(rule, r, nil, "tally", "refusals", 1)
				return
			}
			if time.Now().After(end) {
				t.Fatalf("want %v containers by %s: exit code %d, %v", containers, rule, code, r["tally"])
			}
		}
	}
	// What runs is judged by it as well: it would be refused when it is made anew.
	counted("none-shared", 2)

	// So is what was created under the one before and starts under this one.
	sandbox, err := g.RunSandbox(t.Context(), harness.Pod{Privileged: true})
	if err != nil {
		t.Fatal(err)
	}
	id, err := g.CreateContainer(t.Context(), sandbox, pod.Containers[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := g.WritePolicy(strings.Replace(watching, "no-shared", "nothing-shared", 1)); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	counted("nothing-shared", 2)
	if err := g.StartContainer(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	counted("nothing-shared", 3)
}

// settingsText is what the plugin was given.
func (g *guard) settingsText(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(g.ConfDir, "90-mountward.conf"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
