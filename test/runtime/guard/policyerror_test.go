//go:build linux

package guard_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mountward/mountward/test/runtime/adapt"
	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/ward"
)

const (
	goodPolicy = "version = 1\nmode = \"enforce\"\ndefault = \"allow\"\n[[rule]]\nname = \"no-shared\"\nmatch.propagation = [\"shared\"]\naction = \"deny\"\n"
	badPolicy  = "version = 1\nmode = \"enforce\"\ndefault = \"allow\"\n[[rule]]\nname = \"no-shared\"\nmatch.propagaton = [\"shared\"]\naction = \"deny\"\n"
	badPlace   = "policy.toml:6:"
)

// launch runs mountward on an adaptation with files prepared by the test.
func launch(t *testing.T, w *ward.Ward, settings string) *bench {
	t.Helper()
	binary, err := ward.Binary()
	if err != nil {
		t.Fatal(err)
	}
	r, err := adapt.Start(adapt.Config{
		Plugins:    map[string]string{"90-mountward": binary},
		PluginConf: map[string]string{"90-mountward.conf": settings},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Stop() })
	return &bench{r, w, t}
}

func (b *bench) createShared(static bool) error {
	pod := testPod("prod")
	if static {
		pod.Annotations = map[string]string{"kubernetes.io/config.source": "file"}
	}
	_, _, err := b.CreateFromSpec(b.tb.Context(), pod, "c", "main", privileged(bind("/data", "/", "rshared")))
	return err
}

func (b *bench) want(event string, texts ...string) {
	b.tb.Helper()
	r, err := b.Await(b.tb.Context(), 0, func(r ward.Record) bool { return r.Event() == event })
	if err != nil {
		b.tb.Fatalf("%s: %v", event, err)
	}
	for _, text := range texts {
		if !strings.Contains(r.Message(), text) {
			b.tb.Errorf("%s says %q, want %q in it", event, r.Message(), text)
		}
	}
}

// TestPolicyErrors: a policy that cannot be used never opens silently.
func TestPolicyErrors(t *testing.T) {
	harness.NeedsRoot(t)
	tests := []struct {
		name     string
		good     string // loaded by an earlier process
		policy   string // what is there now; "" for no file
		settings string
		refused  string // text of the refusal of an rshared container; "" for none
		static   bool   // a static pod
		records  []string
	}{
		{name: "good", policy: goodPolicy, refused: `rule "no-shared"`},
		{
			name: "bad, nothing before: built-in audit", policy: badPolicy,
			records: []string{badPlace, "propagaton", "built-in"},
		},
		{
			name: "bad, nothing before: deny", policy: badPolicy, settings: `guard.on_policy_error = "deny"`,
			refused: badPlace, records: []string{badPlace},
		},
		{
			name: "bad, nothing before: deny, but a static pod", policy: badPolicy, settings: `guard.on_policy_error = "deny"`,
			static: true, records: []string{badPlace},
		},
		{
			name: "bad after good: the last good one", good: goodPolicy, policy: badPolicy, settings: `guard.on_policy_error = "deny"`,
			refused: `rule "no-shared"`, records: []string{badPlace, "last good"},
		},
		{
			name:    "explicit path missing: built-in audit",
			records: []string{"policy.toml", "no such file", "built-in"},
		},
		{
			name: "explicit path missing: deny", settings: `guard.on_policy_error = "deny"`,
			refused: "no such file", records: []string{"no such file"},
		},
		{
			name: "explicit path missing after good", good: goodPolicy,
			refused: `rule "no-shared"`, records: []string{"no such file", "last good"},
		},
		{
			name: "the policy is enforced, but not on a static pod", policy: goodPolicy, static: true,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w, cfg, err := ward.New(t.TempDir(), ward.Options{Settings: test.settings})
			if err != nil {
				t.Fatal(err)
			}
			settings := cfg.PluginConf["90-mountward.conf"]
			if test.good != "" {
				if err := w.WritePolicy(test.good); err != nil {
					t.Fatal(err)
				}
				before := launch(t, w, settings)
				before.want("policy-loaded")
				if err := before.Stop(); err != nil {
					t.Fatal(err)
				}
				if err := os.Remove(w.Policy); err != nil {
					t.Fatal(err)
				}
			}
			if test.policy != "" {
				if err := w.WritePolicy(test.policy); err != nil {
					t.Fatal(err)
				}
			}
			b := launch(t, w, settings)
			err = b.createShared(test.static)
			if test.refused == "" && err != nil || test.refused != "" && (err == nil || !strings.Contains(err.Error(), test.refused)) {
				t.Errorf("create: error = %v, want %q", err, test.refused)
			}
			if len(test.records) > 0 {
				b.want("policy-rejected", test.records...)
			}
			if test.refused != "" {
				b.want("decision", "refused")
			}
		})
	}
}

// TestReload: SIGHUP puts a good policy in force and keeps it from a bad one.
func TestReload(t *testing.T) {
	g := start(t, ward.Options{Policy: "version = 1\nmode = \"audit\"\ndefault = \"allow\"\n"})
	dir := harness.TestHostDirs(t).Shared
	pod := harness.Pod{Containers: []harness.Container{{
		Name: "main", Privileged: true,
		Mounts: []harness.ContainerMount{{HostPath: dir.Path, ContainerPath: "/data", Propagation: harness.Bidirectional}},
	}}}
	for _, step := range []struct {
		policy, event string
		refused       bool
	}{
		{"", "", false},
		{goodPolicy, "policy-loaded", true},
		{badPolicy, "policy-rejected", true},
		{"version = 1\nmode = \"audit\"\ndefault = \"deny\"\n", "policy-loaded", false},
	} {
		if step.policy != "" {
			if err := g.WritePolicy(step.policy); err != nil {
				t.Fatal(err)
			}
			r, err := g.Reload(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if r.Event() != step.event {
				t.Errorf("reload gave %s, want %s: %s", r.Event(), step.event, r.Message())
			}
		}
		_, err := g.tryOne(pod)
		if refused := err != nil; refused != step.refused {
			t.Errorf("after %q: error = %v, want refused: %t", step.event, err, step.refused)
		}
	}
}

// ownDirectories lays an overlay over the directories where mountward keeps its
// files by default, so that they can be used without a trace.
func ownDirectories(t *testing.T) {
	t.Helper()
	harness.NeedsRoot(t)
	for _, dir := range []string{"/etc", "/var/lib", "/var/log"} {
		scratch := filepath.Join(t.TempDir(), "overlay")
		if err := os.Mkdir(scratch, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := unix.Mount("tmpfs", scratch, "tmpfs", 0, ""); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Unmount(scratch, unix.MNT_DETACH) })
		upper, work := filepath.Join(scratch, "upper"), filepath.Join(scratch, "work")
		for _, d := range []string{upper, work} {
			if err := os.Mkdir(d, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		options := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", dir, upper, work)
		if err := unix.Mount("overlay", dir, "overlay", 0, options); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestDefaultFiles: no settings at all, a default policy that is deleted, and
// settings that are wrong.
func TestDefaultFiles(t *testing.T) {
	ownDirectories(t)
	w := &ward.Ward{Policy: "/etc/mountward/policy.toml", Audit: "/var/log/mountward/audit.jsonl"}

	t.Run("nothing there: built-in", func(t *testing.T) {
		b := launch(t, w, "")
		if err := b.createShared(false); err != nil {
			t.Error(err)
		}
		b.want("policy-loaded", "built-in", "mode audit")
	})
	t.Run("the default file", func(t *testing.T) {
		if err := os.MkdirAll(filepath.Dir(w.Policy), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := w.WritePolicy(goodPolicy); err != nil {
			t.Fatal(err)
		}
		if err := launch(t, w, "").createShared(false); err == nil {
			t.Error("the default policy file does not decide")
		}
	})
	t.Run("the default file deleted: the last good one", func(t *testing.T) {
		if err := os.Remove(w.Policy); err != nil {
			t.Fatal(err)
		}
		b := launch(t, w, "")
		if err := b.createShared(false); err == nil {
			t.Error("deleting the policy file ended enforcement")
		}
		b.want("policy-rejected", "restore the file", "last good")
	})
	t.Run("wrong settings are a policy error", func(t *testing.T) {
		before := mustRecords(t, w)
		b := launch(t, w, "polcy = \"/x\"\n")
		if err := b.createShared(false); err == nil {
			t.Error("wrong settings ended enforcement")
		}
		r, err := w.Await(t.Context(), len(before), func(r ward.Record) bool { return r.Event() == "policy-rejected" })
		if err != nil {
			t.Fatal(err)
		}
		if want := "/etc/nri/conf.d/90-mountward.conf:1:1"; !strings.Contains(r.Message(), want) {
			t.Errorf("record says %q, want %q in it", r.Message(), want)
		}
	})
}

func mustRecords(t *testing.T, w *ward.Ward) []ward.Record {
	t.Helper()
	records, err := w.Records()
	if err != nil {
		t.Fatal(err)
	}
	return records
}
