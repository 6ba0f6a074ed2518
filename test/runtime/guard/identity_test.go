//go:build linux

package guard_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/ward"
)

// place is a directory with a secret in it and several ways to it.
func place(t *testing.T) string {
	t.Helper()
	harness.NeedsRoot(t)
	dir := t.TempDir()
	for _, d := range []string{"secret/sub", "secret2/sub", "plain/sub", "twin", "ok/sub"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("secret", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	twin := filepath.Join(dir, "twin")
	if err := unix.Mount(filepath.Join(dir, "secret"), twin, "", unix.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(twin, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func one(source string) harness.Pod {
	return harness.Pod{Containers: []harness.Container{{
		Name: "main", Mounts: []harness.ContainerMount{{HostPath: source, ContainerPath: "/data"}},
	}}}
}

// TestDenyBySourceHolds: a deny about a path holds for whatever leads there.
func TestDenyBySourceHolds(t *testing.T) {
	dir := place(t)
	const deny = "version = 1\nmode = \"enforce\"\ndefault = \"allow\"\n[[rule]]\nname = \"secret\"\nreason = \"not for pods\"\nmatch.source = [%q, \"/var/run/guarded/**\"]\naction = \"deny\"\n"
	g := start(t, ward.Options{Policy: fmt.Sprintf(deny, dir+"/secret/**")})
	for _, d := range []string{"/run/guarded/x", "/run/free"} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name, source string
		refused      bool
	}{
		{"as spelled", dir + "/secret/sub", true},
		{"the directory itself", dir + "/secret", true},
		{"with dots", dir + "/plain/../secret/sub", true},
		{"with slashes", dir + "//secret/./sub", true},
		{"by a symbolic link on the way", dir + "/link/sub", true},
		{"by a symbolic link at the end", dir + "/link", true},
		{"by another mount of it", dir + "/twin/sub", true},
		{"/run for /var/run", "/run/guarded/x", true},
		{"/var/run", "/var/run/guarded/x", true},
		{"a name that begins the same", dir + "/secret2/sub", false},
		{"another directory", dir + "/plain/sub", false},
		{"another in /run", "/var/run/free", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			id, err := g.in(t).tryOne(one(test.source))
			if !test.refused {
				if err != nil {
					t.Fatal(err)
				}
				g.in(t).never("drift", id)
				return
			}
			if err == nil || !strings.Contains(err.Error(), `rule "secret" (`) || !strings.Contains(err.Error(), "not for pods") {
				t.Errorf("error = %v, want a refusal with rule and reason", err)
			}
		})
	}
}

// TestSwapBetweenCreateAndStart: a directory that becomes a symbolic link after
// the decision is judged by where the container really is, and only that one.
func TestSwapBetweenCreateAndStart(t *testing.T) {
	tests := []struct {
		name, policy string
		swap         string // what plain/sub becomes a link into; "" leaves it
		refused      bool
	}{
		{"deny, swapped", "allow", "secret", true},
		{"deny, swapped for something harmless", "allow", "ok", false},
		{"deny, not swapped", "allow", "", false},
		{"default deny, swapped", "deny", "secret", true},
		{"default deny, not swapped", "deny", "", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := place(t)
			policy := fmt.Sprintf("version = 1\nmode = \"enforce\"\ndefault = %q\n", test.policy)
			if test.policy == "allow" {
				policy += fmt.Sprintf("[[rule]]\nname = \"secret\"\nmatch.source = [%q]\naction = \"deny\"\n", dir+"/secret/**")
			} else {
				policy += fmt.Sprintf("[[rule]]\nname = \"plain\"\nmatch.source = [%q]\naction = \"allow\"\n", dir+"/plain/**")
				policy += "[[rule]]\nname = \"runtime\"\nmatch.destination = [\"/etc/*\", \"/dev/shm\"]\naction = \"allow\"\n"
			}
			g := start(t, ward.Options{Policy: policy})
			pod := one(dir + "/plain/sub")
			container := pod.Containers[0]
			pod.Containers = nil
			sandbox, err := g.RunSandbox(t.Context(), pod)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := g.RemoveSandbox(t.Context(), sandbox.ID); err != nil {
					t.Error(err)
				}
			}()
			id, err := g.CreateContainer(t.Context(), sandbox, container)
			if err != nil {
				t.Fatal(err)
			}
			if test.swap != "" {
				if err := os.Rename(dir+"/plain/sub", dir+"/gone"); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink("../"+test.swap+"/sub", dir+"/plain/sub"); err != nil {
					t.Fatal(err)
				}
			}
			err = g.StartContainer(t.Context(), id)
			if refused := err != nil; refused != test.refused {
				t.Fatalf("start: error = %v, want refused: %t", err, test.refused)
			}
			if test.refused {
				if !strings.Contains(err.Error(), "mountward: mount /data") {
					t.Errorf("error = %v, want our refusal", err)
				}
				if r := g.await("drift", id); !strings.Contains(r.Message(), "refused the start") {
					t.Errorf("record = %q", r.Message())
				}
			}
		})
	}
}

// TestDefaultDenyAcceptsItsOwnChange: what a rule changed is not judged again
// by validation, proof or synchronization.
func TestDefaultDenyAcceptsItsOwnChange(t *testing.T) {
	dir := harness.TestHostDirs(t).Shared
	policy := fmt.Sprintf(`version = 1
mode = "enforce"
default = "deny"
[[rule]]
name = "follow"
match.source = [%q]
match.propagation = ["private"]
action = "set"
propagation = "rslave"
[[rule]]
name = "runtime"
match.destination = ["/etc/*", "/dev/shm"]
action = "allow"
`, dir.Path+"/**")
	g := start(t, ward.Options{Policy: policy})
	id := g.runOne(one(dir.Path))
	if got := g.Table(id).At("/data").Propagation(); got != "private,slave" {
		t.Errorf("propagation = %s, want private,slave", got)
	}
	g.never("drift", id)
	before := mustRecords(t, g.Ward)
	if err := g.Restart(); err != nil {
		t.Fatal(err)
	}
	// The new plugin proves the running container from what the old one kept.
	if _, err := g.Await(t.Context(), len(before), func(r ward.Record) bool {
		return strings.Contains(r.Message(), ward.Synchronized) && strings.Contains(r.Message(), "proved=1")
	}); err != nil {
		t.Fatal(err)
	}
	g.never("drift", id)
	// What no rule allows is refused.
	if _, err := g.tryOne(one(t.TempDir())); err == nil || !strings.Contains(err.Error(), "the policy's default") {
		t.Errorf("error = %v, want a refusal by the default", err)
	}
}
