//go:build linux

package guard_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/containerd/nri/pkg/api"
	rspec "github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"

	"github.com/mountward/mountward/test/runtime/harness"
)

// hang mounts file systems whose servers never answer, on shared mounts, and
// returns where.
func hang(t *testing.T, n int) []string {
	t.Helper()
	harness.NeedsRoot(t)
	var all []string
	for i := range n {
		dir := filepath.Join(t.TempDir(), "hung")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		fd, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatalf("open /dev/fuse: %v", err)
		}
		data := fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0", fd)
		if err := unix.Mount("dead"+strconv.Itoa(i), dir, "fuse.dead", 0, data); err != nil {
			t.Fatalf("mount fuse: %v", err)
		}
		t.Cleanup(func() {
			// Closing aborts the connection: what is stuck comes back.
			_ = unix.Close(fd)
			if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
				t.Error(err)
			}
		})
		if err := unix.Mount("", dir, "", unix.MS_SHARED, ""); err != nil {
			t.Fatal(err)
		}
		all = append(all, dir)
	}
	return all
}

const raiseAll = `version = 1
mode = "enforce"
default = "allow"

[[rule]]
name = "follow"
match.destination = ["/data/**"]
match.propagation = ["private"]
action = "set"
propagation = "rslave"

[[rule]]
name = "no-shared"
match.propagation = ["shared"]
action = "deny"
`

// raised fails the test unless every mount below /data was made rslave.
func raised(t *testing.T, mounts []rspec.Mount, n int) {
	t.Helper()
	slaves := 0
	for _, m := range mounts {
		if strings.HasPrefix(m.Destination, "/data") && strings.Join(m.Options, ",") == "rbind,rslave" {
			slaves++
		}
	}
	if slaves != n {
		t.Fatalf("%d mounts are rslave, want %d: %v", slaves, n, mounts)
	}
}

// TestHungSource: a source on a file system that does not answer holds up
// neither the creation nor the start. The runtime disconnects a plugin that
// takes 2 s, and our validation then rejects the container: that it is changed
// and goes on is what shows that nothing waited.
func TestHungSource(t *testing.T) {
	dir := hang(t, 1)[0]
	h := startByHand(t, raiseAll, "")
	pod := testPod("prod")
	spec := privileged(bind("/data/at", dir, "rprivate"), bind("/data/below", dir+"/volume/x", "rprivate"))
	c, err := h.created(pod, "hung", spec)
	if err != nil {
		t.Fatal(err)
	}
	raised(t, c.spec.Mounts, 2)
	decision := h.await("decision", c.Id)
	outcomes, _ := decision["outcomes"].([]any)
	why := map[string]string{}
	for i := range outcomes {
		destination, _ := decision.At("outcomes", i, "mount", "destination").(string)
		why[destination], _ = decision.At("outcomes", i, "mount", "host_why").(string)
		if host := decision.At("outcomes", i, "mount", "host"); destination == "/data/below" && host != nil {
			t.Errorf("a host mount is told of the path below: %v", host)
		}
	}
	if why["/data/at"] != "" || !strings.Contains(why["/data/below"], "did not answer") {
		t.Errorf("host_why = %q, want that the path below could not be told, and only that", why)
	}

	h.run(c, bound{dir, "/data/at", unix.MS_SLAVE}, bound{dir, "/data/below", unix.MS_SLAVE})
	if err := h.start(c); err != nil {
		t.Fatalf("start: %v", err)
	}
	for destination, want := range map[string]string{"/data/at": "same", "/data/below": "unknown"} {
		r, proof := h.drift(c, destination)
		if proof["verdict"] != want {
			t.Errorf("%s is %v (%v), want %s", destination, proof["verdict"], proof["reason"], want)
		}
		if !strings.Contains(r.Message(), "cannot tell") {
			t.Errorf("record says %q, want that it cannot tell", r.Message())
		}
	}
	task := h.await("task", c.Id)
	mounts, _ := task["mounts"].([]any)
	told := ""
	for i := range mounts {
		if task.At("mounts", i, "destination") == "/data/below" {
			told, _ = task.At("mounts", i, "why").(string)
		}
	}
	if !strings.Contains(told, "stuck in the same mount") && !strings.Contains(told, "did not answer") {
		t.Errorf("the map says %q of the path below, want why it cannot tell", told)
	}
	h.stillDecides(pod)
}

// stillDecides shows that the plugin is there.
func (h *byHand) stillDecides(pod *api.PodSandbox) {
	h.t.Helper()
	_, _, err := h.CreateFromSpec(h.t.Context(), pod, "after", "main", privileged(bind("/x", "/", "rshared")))
	if err == nil || !strings.Contains(err.Error(), `rule "no-shared"`) {
		h.t.Errorf("error = %v, want the refusal of a plugin that is there", err)
	}
}

// TestHungSourceUnderDefaultDeny: a source that cannot be told is judged by its
// spelling, and what the rule's own path leads to is told of the mount.
func TestHungSourceUnderDefaultDeny(t *testing.T) {
	dir := hang(t, 1)[0]
	for name, test := range map[string]struct {
		sources, refused string
	}{
		"allowed by the mount":    {dir + "/**", ""},
		"allowed by the path":     {dir + "/volume/x", ""},
		"allowed somewhere else":  {dir + "/other/**", "refused by the policy's default"},
		"allowed beside the file": {dir + "2/**", "refused by the policy's default"},
	} {
		t.Run(name, func(t *testing.T) {
			h := startByHand(t, strictPolicy("allow", test.sources), "")
			c, err := h.created(testPod("prod"), "c", privileged(bind("/data", dir+"/volume/x", "rprivate")))
			if test.refused != "" {
				if err == nil || !strings.Contains(err.Error(), test.refused) {
					t.Errorf("create: error = %v, want %q", err, test.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			h.run(c, bound{dir, "/data", unix.MS_PRIVATE})
			if err := h.start(c); err != nil {
				t.Errorf("start: %v", err)
			}
			if _, proof := h.drift(c, "/data"); proof["verdict"] != "unknown" {
				t.Errorf("/data is %v, want unknown", proof["verdict"])
			}
		})
	}
}

func (h *byHand) threads() int {
	h.t.Helper()
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", h.pluginPID()))
	h.must(err)
	return len(tasks)
}

// TestHungSourceManyTimes: each stuck path walk would be a thread of the plugin
// for ever.
func TestHungSourceManyTimes(t *testing.T) {
	dir := hang(t, 1)[0]
	h := startByHand(t, raiseAll, "")
	pod := testPod("prod")
	create := func(from, to int) {
		for i := from; i < to; i++ {
			got, _, err := h.CreateFromSpec(t.Context(), pod, fmt.Sprintf("c%d", i), "main", privileged(
				bind("/data/at", dir, "rprivate"), bind("/data/below", fmt.Sprintf("%s/v%d/x", dir, i), "rprivate")))
			if err != nil {
				t.Fatal(err)
			}
			raised(t, got.Mounts, 2)
		}
	}
	h.stillDecides(pod)
	before := h.threads()
	create(0, 300)
	if n := h.threads() - before; n > 8 {
		t.Errorf("%d more threads after 300 creations", n)
	} else {
		t.Logf("%d threads, and %d more after 300 creations", before, n)
	}
	h.stillDecides(pod)
}

// TestManyHungSources: a node where everything hangs at once. The plugin gives
// up on what it cannot tell before the runtime gives up on the plugin.
func TestManyHungSources(t *testing.T) {
	const n = 24
	dirs := hang(t, n)
	h := startByHand(t, raiseAll, "")
	pod := testPod("prod")
	var mounts []rspec.Mount
	var inside []bound
	for i, dir := range dirs {
		destination := fmt.Sprintf("/data/%d", i)
		mounts = append(mounts, bind(destination, dir+"/volume", "rprivate"))
		inside = append(inside, bound{dir, destination, unix.MS_SLAVE})
	}
	h.stillDecides(pod)
	before := h.threads()
	for round := range 3 {
		c, err := h.created(pod, fmt.Sprintf("c%d", round), privileged(mounts...))
		if err != nil {
			t.Fatal(err)
		}
		raised(t, c.spec.Mounts, n)
		h.run(c, inside...)
		if err := h.start(c); err != nil {
			t.Fatal(err)
		}
		if r, _ := h.drift(c, ""); !strings.Contains(r.Message(), "cannot tell") {
			t.Errorf("record says %q, want that it cannot tell", r.Message())
		}
	}
	// 16 walks may be stuck at one time, on the whole node.
	if more := h.threads() - before; more >= n {
		t.Errorf("%d more threads", more)
	} else {
		t.Logf("%d threads, and %d more", before, more)
	}
	h.stillDecides(pod)
}
