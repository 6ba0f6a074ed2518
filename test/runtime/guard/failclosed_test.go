//go:build linux

package guard_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/ward"
)

// lowering changes every mount of a container that it does not refuse, so that a
// container that starts unchanged is seen.
const lowering = `version = 1
mode = "enforce"
default = "allow"

[[rule]]
name = "lower"
match.propagation = ["slave"]
action = "set"
propagation = "rprivate"
`

// shipped is the drop-in with which containerd requires mountward.
func shipped(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../../../config/containerd/50-mountward.toml")
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// unjudged is a pod whose mount the policy lowers.
func unjudged(source string) harness.Pod {
	pod := one(source)
	pod.Containers[0].Mounts[0].Propagation = harness.HostToContainer
	return pod
}

// lowered says whether a container got what the policy sets.
func (g *guard) lowered(id string) bool {
	g.tb.Helper()
	return g.Table(id).At("/data").Propagation() == "private"
}

// refused fails the test unless a container is not created, for one of the
// reasons.
func (g *guard) refused(pod harness.Pod, reasons ...string) {
	g.tb.Helper()
	id, err := g.tryOne(pod)
	if err == nil {
		g.tb.Errorf("a container was created, lowered: %t; want %q", g.lowered(id), reasons)
	} else if !slices.ContainsFunc(reasons, func(r string) bool { return strings.Contains(err.Error(), r) }) {
		g.tb.Errorf("create: %v, want %q", err, reasons)
	}
}

// passes fails the test unless a container starts, and as it was asked for.
func (g *guard) passes(pod harness.Pod, lowered bool) {
	g.tb.Helper()
	id, err := g.tryOne(pod)
	if err != nil {
		g.tb.Errorf("create and start: %v", err)
	} else if got := g.lowered(id); got != lowered {
		g.tb.Errorf("the mount was lowered: %t, want %t", got, lowered)
	}
}

// plugin is the launched process.
func (g *guard) plugin() int {
	g.tb.Helper()
	pid, err := g.PluginPID()
	if err != nil {
		g.tb.Fatal(err)
	}
	return pid
}

const (
	byValidator = "validator plugin 90-mountward failed"
	byRequired  = "required plugin"
)

// TestHungPlugin is T1: a plugin that does not answer in time, here one that was
// stopped as a whole. As a validator it fails the very creation; that it is
// required fails those that follow, for NRI has killed it. Each of the two alone
// leaves a container through, as it was asked for.
func TestHungPlugin(t *testing.T) {
	source := harness.TestHostDirs(t).Shared.Path
	binaries, err := harness.Build(os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name                string
		validator, required bool
	}{
		{"both", true, true}, {"a validator", true, false}, {"required", false, true}, {"neither", false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := ward.Options{Policy: lowering}
			if test.required {
				o.Imports = []string{shipped(t)}
			}
			if !test.validator {
				o.Binary, o.Raw = binaries.EmptyPlugin, "/dev/null"
			}
			g := start(t, o)
			g.passes(unjudged(source), test.validator)
			pid := g.plugin()
			stopProcess(t, pid)
			t.Cleanup(func() { _ = unix.Kill(pid, unix.SIGCONT) }) // NRI may have killed it
			if test.validator {
				g.refused(unjudged(source), byValidator)
			} else {
				g.passes(unjudged(source), false)
			}
			gone(t, pid)
			for range 2 {
				if test.required {
					g.refused(unjudged(source), byRequired)
				} else {
					g.passes(unjudged(source), false)
				}
			}
		})
	}
}

// TestKilledBetweenRequests is T2: the creation after a kill -9 is rejected, and
// so is the one after it: by the validator where that creation is the first to
// notice, else because we are required.
func TestKilledBetweenRequests(t *testing.T) {
	source := harness.TestHostDirs(t).Shared.Path
	for _, required := range []bool{true, false} {
		t.Run(fmt.Sprintf("required %t", required), func(t *testing.T) {
			o := ward.Options{Policy: lowering}
			if required {
				o.Imports = []string{shipped(t)}
			}
			g := start(t, o)
			g.passes(unjudged(source), true)
			pid := g.plugin()
			if err := unix.Kill(pid, unix.SIGKILL); err != nil {
				t.Fatal(err)
			}
			gone(t, pid)
			if required {
				g.refused(unjudged(source), byValidator, byRequired)
				g.refused(unjudged(source), byRequired)
				// It is so for all: nobody is left to tell a static pod.
				static := unjudged(source)
				static.Annotations = map[string]string{"kubernetes.io/config.source": "file"}
				g.refused(static, byRequired)
				// With containerd the plugin is back.
				if err := g.Restart(); err != nil {
					t.Fatal(err)
				}
				g.passes(unjudged(source), true)
				return
			}
			// Without, NRI has noticed when the pod was made, and goes on.
			g.passes(unjudged(source), false)
		})
	}
}

// TestToleration is T28: with a toleration annotation whoever makes a pod gets
// past the guard while that is away. The shipped drop-in has none, and doctor
// says where there is one.
func TestToleration(t *testing.T) {
	source := harness.TestHostDirs(t).Shared.Path
	const key = "example.com/without-mountward"
	for _, tolerated := range []bool{true, false} {
		t.Run(fmt.Sprintf("tolerated %t", tolerated), func(t *testing.T) {
			o := ward.Options{Policy: lowering}
			o.Imports = []string{shipped(t)}
			if tolerated {
				later := filepath.Join(t.TempDir(), "60-later.toml")
				text := fmt.Sprintf("version = 2\n[plugins.\"io.containerd.nri.v1.nri\".default_validator]\ntolerate_missing_plugins_annotation = %q\n", key)
				if err := os.WriteFile(later, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				o.Imports = append(o.Imports, later)
			}
			g := start(t, o)
			// It is not asked for while we are there.
			pod := unjudged(source)
			pod.Annotations = map[string]string{key: "true", key + "/pod": "true", key + "/container.main": "true"}
			g.passes(pod, true)

			said := diagnose(t, g.settings(""), "doctor").coded("unknown", "nri-toleration")
			if got := len(said) > 0; got != tolerated {
				t.Errorf("doctor says that it cannot tell who can get past: %t, want %t", got, tolerated)
			}
			if _, err := g.Await(t.Context(), 0, func(r ward.Record) bool {
				if tolerated {
					return strings.Contains(r.Message(), "NRI does not fail closed here") && strings.Contains(r.Message(), "no_toleration: no")
				}
				return strings.HasPrefix(r.Message(), "NRI fails closed here")
			}); err != nil {
				t.Errorf("what the log says: %v", err)
			}

			pid := g.plugin()
			if err := unix.Kill(pid, unix.SIGKILL); err != nil {
				t.Fatal(err)
			}
			gone(t, pid)
			g.refused(unjudged(source), byValidator, byRequired)
			g.refused(unjudged(source), byRequired)
			if tolerated {
				g.passes(pod, false)
			} else {
				g.refused(pod, byRequired)
			}
		})
	}
}
