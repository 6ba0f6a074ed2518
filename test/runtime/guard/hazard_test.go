//go:build linux

package guard_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/ward"
)

const (
	enforcing  = "version = 1\nmode = \"enforce\"\ndefault = \"allow\"\n"
	auditing   = "version = 1\nmode = \"audit\"\ndefault = \"allow\"\n"
	denyInside = "[hazards]\nMW101 = \"deny\"\n"
)

// dangerous is a privileged pod with two directories of the host below a shared
// one: outer, rshared, and inner.
func dangerous(t *testing.T, outer, inner string) (pod harness.Pod, onHost func() int) {
	t.Helper()
	dir := harness.TestHostDirs(t).Shared
	a, b := filepath.Join(dir.Path, "a"), filepath.Join(dir.Path, "b")
	for _, d := range []string{a, b} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	pod = harness.Pod{Containers: []harness.Container{{Name: "main", Privileged: true, Mounts: []harness.ContainerMount{
		{HostPath: a, ContainerPath: outer, Propagation: harness.Bidirectional},
		{HostPath: b, ContainerPath: inner},
	}}}}
	// The directories are no mount points: whatever is mounted there came.
	return pod, func() int {
		mounts, err := harness.Mountinfo(0)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, m := range mounts {
			if m.Point == a || strings.HasPrefix(m.Point, a+"/") {
				n++
			}
		}
		return n
	}
}

// hazards are the records of hazards about a container: "STAGE CODE DESTINATION",
// with a question mark where it was in doubt.
func (g *guard) hazards(id string) []string {
	g.tb.Helper()
	records, err := g.Records()
	if err != nil {
		g.tb.Fatal(err)
	}
	var all []string
	for _, r := range records {
		if r.Event() != "hazard" || r.ContainerID() != id {
			continue
		}
		list, _ := r["hazards"].([]any)
		for i := range list {
			text := func(path ...any) string { s, _ := r.At(append([]any{"hazards", i}, path...)...).(string); return s }
			line := text("stage") + " " + text("code") + " " + text("destinations", 0)
			if text("doubt") != "" {
				line += " ?"
			}
			all = append(all, line)
		}
	}
	return all
}

// TestHazardInsideShared: a mount inside an rshared one comes to the host, and is
// recorded; the policy can refuse it, or cure it by a rule.
func TestHazardInsideShared(t *testing.T) {
	g := start(t, ward.Options{Policy: enforcing})
	rule := func(action string) string {
		return "[[rule]]\nname = \"inside\"\nreason = \"not here\"\nmatch.hazard = [\"MW101\"]\nmatch.propagation = [\"shared\"]\naction = " + action
	}
	static := map[string]string{"kubernetes.io/config.source": "file"}
	tests := []struct {
		name, policy string
		annotations  map[string]string
		refused      string
		onHost       int
		hazards      []string
		message      string // of the record
		decision     string // of the decision record, "" for none
	}{
		{name: "default", policy: enforcing, onHost: 1, hazards: []string{"asked MW101 /data/in"}, message: "MW101: mount /data/in of container main"},
		{
			name: "deny", policy: enforcing + denyInside, refused: `mountward: mount /data/in (rprivate/None) refused by rule "hazards.MW101" (`,
			message: "refused, MW101: mount /data/in", decision: "refused container main",
		},
		{name: "deny, audit mode", policy: auditing + denyInside, onHost: 1, hazards: []string{"asked MW101 /data/in"}, message: "would refuse, MW101", decision: "would refuse container main"},
		{name: "deny, a static pod", policy: enforcing + denyInside, annotations: static, onHost: 1, hazards: []string{"asked MW101 /data/in"}, message: "not refused, as a static pod never is, MW101"},
		{name: "ignore", policy: enforcing + "[hazards]\nMW101 = \"ignore\"\n", onHost: 1},
		{name: "another code is denied", policy: enforcing + "[hazards]\nMW102 = \"deny\"\n", onHost: 1, hazards: []string{"asked MW101 /data/in"}},
		{name: "a rule lowers it", policy: enforcing + denyInside + rule("\"set\"\npropagation = \"rslave\"\n"), decision: `(rule "inside"`},
		{name: "a rule refuses it", policy: enforcing + rule("\"deny\"\n"), refused: `mount /data (rshared/Bidirectional) refused by rule "inside"`, message: "MW101: mount /data/in", decision: "refused container main"},
		{name: "a rule allows it, the table does not", policy: enforcing + denyInside + rule("\"allow\"\n"), refused: `rule "hazards.MW101"`, decision: "refused container main"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			g := g.in(t)
			before, err := g.Records()
			if err != nil {
				t.Fatal(err)
			}
			if err := g.WritePolicy(test.policy); err != nil {
				t.Fatal(err)
			}
			if r, err := g.Reload(t.Context()); err != nil || r.Event() != "policy-loaded" {
				t.Fatalf("reload: %v %v", r, err)
			}
			pod, onHost := dangerous(t, "/data", "/data/in")
			pod.Annotations = test.annotations
			id, err := g.tryOne(pod)
			if refused := err != nil; refused != (test.refused != "") || refused && !strings.Contains(err.Error(), test.refused) {
				t.Fatalf("error = %v, want %q", err, test.refused)
			}
			if got := onHost(); got != test.onHost {
				t.Errorf("%d mounts came to the host, want %d", got, test.onHost)
			}
			if id != "" {
				g.await("task", id) // which comes last
				if got := g.hazards(id); !slices.Equal(got, test.hazards) {
					t.Errorf("hazards %q, want %q", got, test.hazards)
				}
			}
			said := func(event, text string) {
				t.Helper()
				if text == "" {
					return
				}
				if _, err := g.Await(t.Context(), len(before), func(r ward.Record) bool { return r.Event() == event && strings.Contains(r.Message(), text) }); err != nil {
					t.Errorf("no record %s says %q: %v", event, text, err)
				}
			}
			said("hazard", test.message)
			said("decision", test.decision)
		})
	}
}

// TestHazardByALinkOfTheImage: where a destination leads in the image is known
// for sure at the start, from the kernel's table.
func TestHazardByALinkOfTheImage(t *testing.T) {
	tests := []struct {
		name         string
		links        map[string]string
		outer, inner string
		hazards      []string
		onHost       int
		denied       string // when a deny refuses: "create", "start" or never
	}{
		{"the customary link", map[string]string{"var/run": "/run"}, "/run", "/var/run/secrets/x", []string{"asked MW101 /var/run/secrets/x ?", "mounted MW101 /var/run/secrets/x"}, 1, "create"},
		{"no such link", nil, "/run", "/var/run/secrets/x", []string{"asked MW101 /var/run/secrets/x ?"}, 0, "create"},
		{"a link of this image only", map[string]string{"link": "/data"}, "/data", "/link/x", []string{"mounted MW101 /link/x"}, 1, "start"},
		{"a link that leads elsewhere", map[string]string{"link": "/tmp"}, "/data", "/link/x", nil, 0, ""},
		{"a link to the rshared mount itself", map[string]string{"link": "/data"}, "/data", "/zlink/../link", []string{"asked MW108 /zlink/../link", "mounted MW101 /zlink/../link", "mounted MW107 /data"}, 1, "start"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			o := ward.Options{Policy: enforcing}
			o.Symlinks = test.links
			g := start(t, o)
			pod, onHost := dangerous(t, test.outer, test.inner)
			id := g.runOne(pod)
			g.await("task", id)
			if got := g.hazards(id); !slices.Equal(got, test.hazards) {
				t.Errorf("hazards %q, want %q", got, test.hazards)
			}
			if got := onHost(); got != test.onHost {
				t.Errorf("%d mounts came to the host, want %d", got, test.onHost)
			}

			if err := g.WritePolicy(enforcing + denyInside); err != nil {
				t.Fatal(err)
			}
			if _, err := g.Reload(t.Context()); err != nil {
				t.Fatal(err)
			}
			pod, _ = dangerous(t, test.outer, test.inner)
			id, err := g.tryOne(pod)
			denied := ""
			switch {
			case err != nil && !strings.Contains(err.Error(), `refused by rule "hazards.MW101"`):
				t.Fatal(err)
			case err != nil && id == "":
				denied = "create"
			case err != nil:
				denied = "start"
			}
			if denied != test.denied {
				t.Errorf("refused at %q, want %q: %v", denied, test.denied, err)
			}
			if denied == "start" {
				r, err := g.Await(t.Context(), 0, func(r ward.Record) bool {
					return r.Event() == "hazard" && r.ContainerID() == id && strings.HasPrefix(r.Message(), "refused, MW101")
				})
				if err != nil || r["refused"] != true {
					t.Errorf("record %v: %v", r, err)
				}
				g.await("drift", id)
			}
		})
	}
}

// TestReadOnlyIsNotRecursive: what the hazard says is so: an unprivileged
// container writes below its read-only mount.
func TestReadOnlyIsNotRecursive(t *testing.T) {
	dir := harness.TestHostDirs(t).Shared
	if _, err := dir.MountBelow("vol"); err != nil {
		t.Fatal(err)
	}
	g := start(t, ward.Options{Policy: enforcing})
	pod := harness.Pod{Containers: []harness.Container{{
		Name: "main", Mounts: []harness.ContainerMount{{HostPath: dir.Path, ContainerPath: "/data", ReadOnly: true}},
	}}}
	id := g.runOne(pod)
	g.await("task", id)
	if got, want := g.hazards(id), []string{"mounted MW105 /data"}; !slices.Equal(got, want) {
		t.Errorf("hazards %q, want %q", got, want)
	}
	modes := map[string]string{}
	for _, m := range g.Table(id) {
		modes[m.Point] = m.Options[0]
	}
	if modes["/data"] != "ro" || modes["/data/vol"] != "rw" {
		t.Errorf("the kernel has /data %q and /data/vol %q, want ro and rw", modes["/data"], modes["/data/vol"])
	}
	plain := filepath.Join(dir.Path, "plain")
	if err := os.Mkdir(plain, 0o755); err != nil {
		t.Fatal(err)
	}
	pod.Containers[0].Mounts[0].HostPath = plain
	id = g.runOne(pod)
	g.never("hazard", id)
}

// TestOwnRootfs: a directory that becomes the container's own root file system
// between create and start is known by what is mounted.
func TestOwnRootfs(t *testing.T) {
	g := start(t, ward.Options{Policy: enforcing + "[hazards]\nMW112 = \"deny\"\n"})
	source := filepath.Join(t.TempDir(), "x")
	if err := os.Mkdir(source, 0o755); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	pod := g.Run(harness.Pod{})
	id, err := g.CreateContainer(ctx, pod, harness.Container{Name: "main", Mounts: []harness.ContainerMount{{HostPath: source, ContainerPath: "/data"}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(source); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(g.State, "io.containerd.runtime.v2.task/k8s.io", id, "rootfs"), source); err != nil {
		t.Fatal(err)
	}
	if err := g.StartContainer(ctx, id); err == nil || !strings.Contains(err.Error(), `refused by rule "hazards.MW112"`) {
		t.Errorf("start: %v", err)
	}
	g.await("hazard", id)
	if got, want := g.hazards(id), []string{"mounted MW112 /data"}; !slices.Equal(got, want) {
		t.Errorf("hazards %q, want %q", got, want)
	}
}
