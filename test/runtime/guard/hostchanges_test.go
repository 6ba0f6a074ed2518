//go:build linux

package guard_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/ward"
)

// TestHostChangesBetweenCreateAndStart: what the host does to the source of a
// container that was decided about is never held against the container. It may
// end up with less than decided, or with something else than was decided about;
// both are told.
func TestHostChangesBetweenCreateAndStart(t *testing.T) {
	over := func(t *testing.T, path string) {
		if err := unix.Mount("over", path, "tmpfs", 0, "mode=755"); err != nil {
			t.Fatal(err)
		}
	}
	private := func(t *testing.T, path string) {
		if err := unix.Mount("", path, "", unix.MS_PRIVATE, ""); err != nil {
			t.Fatal(err)
		}
	}
	anew := func(t *testing.T, path string) {
		private(t, path)
		if err := unix.Mount("", path, "", unix.MS_SHARED, ""); err != nil {
			t.Fatal(err)
		}
	}
	nothing := func(*testing.T, string) {}
	tests := []struct {
		name, action string // what the rule about the source does; "" leaves it to the default, allow
		below        bool   // the source is a directory on the mount, not the mount
		change       func(t *testing.T, path string)
		drift        string // in the record, "" for none
	}{
		{"nothing happens, raised", "set", false, nothing, ""},
		{"nothing happens, allowed", "allow", false, nothing, ""},
		{"overmounted, raised", "set", false, over, "at creation and"},
		{"overmounted, allowed", "allow", false, over, "at creation and"},
		{"overmounted below, raised", "set", true, over, "at creation and"},
		{"overmounted below, allowed", "allow", true, over, "at creation and"},
		{"overmounted, nothing is denied", "", false, over, "at creation and"},
		{"made private, raised", "set", false, private, "the host mount is private now"},
		{"made private, allowed", "allow", false, private, ""},
		{"shared anew, raised", "set", false, anew, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := harness.TestHostDirs(t).Shared
			source := dir.Path
			if test.below {
				source += "/below"
				if err := os.Mkdir(source, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			g := start(t, ward.Options{Policy: strictPolicy(test.action, dir.Path+"/**")})
			id, err := g.startAfter(one(source), func() { test.change(t, source) })
			if err != nil {
				t.Fatalf("start: %v", err)
			}
			if test.drift == "" {
				g.never("drift", id)
				return
			}
			if r := g.await("drift", id); !strings.Contains(r.Message(), test.drift) || strings.Contains(r.Message(), "refused") {
				t.Errorf("record says %q, want %q", r.Message(), test.drift)
			}
			g.await("task", id)
		})
	}
}

// strictPolicy refuses what no rule is about, but for what the runtime mounts,
// and does one thing with the sources in a glob.
func strictPolicy(action, sources string) string {
	defaults := "deny"
	rule := fmt.Sprintf("match.source = [%q]\nmatch.propagation = [\"private\"]\naction = %q\n", sources, action)
	switch action {
	case "set":
		rule += "propagation = \"rslave\"\n"
	case "":
		defaults = "allow"
		rule = "match.source = [\"/nowhere\"]\naction = \"audit\"\n"
	}
	return fmt.Sprintf(`version = 1
mode = "enforce"
default = %q

[[rule]]
name = "source"
%s
[[rule]]
name = "runtime"
match.destination = ["/etc/*", "/dev/shm"]
action = "allow"
`, defaults, rule)
}

// startAfter starts the container of a pod after something has happened since
// it was created.
func (g *guard) startAfter(pod harness.Pod, happens func()) (string, error) {
	g.tb.Helper()
	c := pod.Containers[0]
	pod.Containers = nil
	sandbox := g.Run(pod)
	id, err := g.CreateContainer(g.tb.Context(), sandbox, c)
	if err != nil {
		g.tb.Fatal(err)
	}
	happens()
	return id, g.StartContainer(g.tb.Context(), id)
}

// TestHostChangesBeforeTheProof: the source's path leads elsewhere when the
// runtime has made its mounts and the proof is due. The container has what was
// decided about; the tables no longer show it, and that refuses nothing.
func TestHostChangesBeforeTheProof(t *testing.T) {
	changes := map[string]func(h *byHand, source string){
		"overmounted": func(h *byHand, source string) { h.mount("over", source, "tmpfs", 0, "") },
		"removed":     func(h *byHand, source string) { h.must(os.Remove(source)) },
		"replaced": func(h *byHand, source string) {
			h.must(os.Remove(source))
			h.must(os.Mkdir(source, 0o755))
		},
		"renamed": func(h *byHand, source string) { h.must(os.Rename(source, source+"-old")) },
	}
	for change, do := range changes {
		for _, action := range []string{"allow", "set"} {
			t.Run(change+"/"+action, func(t *testing.T) {
				source := harness.TestHostDirs(t).Shared.Path + "/below"
				if err := os.Mkdir(source, 0o755); err != nil {
					t.Fatal(err)
				}
				h := startByHand(t, strictPolicy(action, source), "")
				c, err := h.created(testPod("prod"), "c", privileged(bind("/data", source, "rprivate")))
				if err != nil {
					t.Fatal(err)
				}
				h.run(c, bound{source, "/data", map[string]uintptr{"allow": unix.MS_PRIVATE, "set": unix.MS_SLAVE}[action]})
				do(h, source)
				if err := h.start(c); err != nil {
					t.Fatalf("start: %v", err)
				}
				if change == "overmounted" && action == "set" {
					h.no("drift", c) // it followed
					return
				}
				r, proof := h.drift(c, "/data")
				if proof["verdict"] != "unknown" || !strings.Contains(r.Message(), "cannot tell") {
					t.Errorf("/data is %v, record says %q; want that it cannot tell", proof["verdict"], r.Message())
				}
				h.await("task", c.Id)
			})
		}
	}
}
