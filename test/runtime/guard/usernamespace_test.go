//go:build linux

package guard_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	rspec "github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"

	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/ward"
)

// inNamespace switches the namespace applier on.
const inNamespace = "apply.namespace = true\n"

const usersPolicy = `version = 1
mode = "enforce"
default = "allow"

[[rule]]
name = "raise"
match.namespace = ["raise"]
match.destination = ["/data"]
action = "set"
propagation = "rslave"

[[rule]]
name = "lower"
match.namespace = ["lower"]
match.destination = ["/data"]
action = "set"
propagation = "rprivate"

[[rule]]
name = "lower-or-leave"
match.namespace = ["leave"]
match.destination = ["/data"]
action = "set"
propagation = "rprivate"
on_unmet = "leave"
`

var podUsers = &harness.IDMap{Host: 100000, Length: 65536}

// userPod has a user namespace and an id-mapped volume, as the kubelet asks for
// both.
func userPod(namespace, source string, p harness.Propagation) harness.Pod {
	return harness.Pod{Namespace: namespace, Users: podUsers, Containers: []harness.Container{{
		Name: "main", Mounts: []harness.ContainerMount{{HostPath: source, ContainerPath: "/data", Propagation: p, Users: podUsers}},
	}}}
}

func ownerOf(t *testing.T, path string) uint32 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Sys().(*syscall.Stat_t).Uid
}

func (g *guard) mapped(id string) bool {
	return slices.Contains(g.Table(id).At("/data").Options, "idmapped")
}

// outcome is what the last decision record of a container says of /data: there
// is one of its creation, and one of its start where something was to be done
// then.
func (g *guard) outcome(id string) (result, reason string) {
	g.tb.Helper()
	g.await("task", id) // comes last
	records, err := g.Records()
	if err != nil {
		g.tb.Fatal(err)
	}
	for _, r := range records {
		if r.Event() != "decision" || r.ContainerID() != id {
			continue
		}
		all, _ := r["outcomes"].([]any)
		for i := range all {
			if r.At("outcomes", i, "mount", "destination") == "/data" {
				result, _ = r.At("outcomes", i, "result").(string)
				reason, _ = r.At("outcomes", i, "reason").(string)
			}
		}
	}
	return result, reason
}

func (g *guard) finding(id, code string) bool {
	g.tb.Helper()
	records, err := g.Records()
	if err != nil {
		g.tb.Fatal(err)
	}
	for _, r := range records {
		findings, _ := r["findings"].([]any)
		for i := range findings {
			if r.ContainerID() == id && r.At("findings", i, "code") == code {
				return true
			}
		}
	}
	return false
}

// TestUserNamespacedPodWithoutTheApplier is T17: NRI would lose the id mapping,
// so nothing is changed, and a lowering is refused unless on_unmet says leave.
func TestUserNamespacedPodWithoutTheApplier(t *testing.T) {
	g := start(t, ward.Options{Policy: usersPolicy})
	dir := harness.TestHostDirs(t).Shared
	for _, test := range []struct {
		namespace string
		asked     harness.Propagation
		refused   bool
	}{
		{"raise", harness.None, false},
		{"lower", harness.HostToContainer, true},
		{"leave", harness.HostToContainer, false},
	} {
		t.Run(test.namespace, func(t *testing.T) {
			g := g.in(t)
			id, err := g.tryOne(userPod(test.namespace, dir.Path, test.asked))
			if refused := err != nil; refused != test.refused {
				t.Fatalf("error = %v, want refused: %t", err, test.refused)
			}
			if err != nil {
				if !strings.Contains(err.Error(), `mount /data (rslave/HostToContainer) refused by rule "lower"`) {
					t.Errorf("the owner is told %q", err)
				}
				return
			}
			want := map[harness.Propagation]string{harness.None: "private", harness.HostToContainer: "private,slave"}[test.asked]
			if got := g.Table(id).At("/data").Propagation(); got != want || !g.mapped(id) {
				t.Errorf("it is %s, id-mapped %t; want it as asked", got, g.mapped(id))
			}
			if result, reason := g.outcome(id); result != "left" || !strings.Contains(reason, "id mapping") {
				t.Errorf("outcome %s: %s", result, reason)
			}
		})
	}
}

// TestUserNamespacedPodWithTheApplier is the other half of T17: the mount is
// changed, keeps its mapping, and files written through it have the right owner.
func TestUserNamespacedPodWithTheApplier(t *testing.T) {
	g := start(t, ward.Options{Policy: usersPolicy, Settings: inNamespace})
	for _, test := range []struct {
		namespace string
		asked     harness.Propagation
		follows   bool
	}{
		{"raise", harness.None, true},
		{"lower", harness.HostToContainer, false},
		{"lower", harness.Bidirectional, false},
		{"other", harness.None, false},
		{"other", harness.HostToContainer, true},
	} {
		t.Run(test.namespace, func(t *testing.T) {
			g := g.in(t)
			dir := harness.TestHostDirs(t).Shared
			if _, err := dir.MountBelow("early"); err != nil {
				t.Fatal(err)
			}
			id, err := g.tryOne(userPod(test.namespace, dir.Path, test.asked))
			if err != nil {
				t.Fatal(err)
			}
			later, err := dir.MountBelow("later")
			if err != nil {
				t.Fatal(err)
			}
			if got := g.sees(id, "later"); got != test.follows || !g.sees(id, "early") {
				t.Errorf("sees a later mount: %t, want %t; an early one: %t; table:\n%v", got, test.follows, g.sees(id, "early"), g.Table(id).At("/data"))
			}
			if !g.mapped(id) {
				t.Errorf("the mount is not id-mapped any more: %v", g.Table(id).At("/data").Options)
			}
			g.Output(id, "write", "/data/mine", "x")
			if uid := ownerOf(t, filepath.Join(dir.Path, "mine")); uid != 0 {
				t.Errorf("a file written by root of the container belongs to user %d on the host, want 0: the mapping is lost", uid)
			}
			g.never("drift", id)
			if test.namespace == "other" {
				return // nothing was decided, the comparison above is with the runtime's own
			}
			if result, reason := g.outcome(id); result != "applied" {
				t.Errorf("outcome %s: %s", result, reason)
			}
			if said := g.finding(id, "later-mounts-not-idmapped"); said != test.follows {
				t.Errorf("said that later mounts are not id-mapped: %t, want %t", said, test.follows)
			}
			if !test.follows {
				return
			}
			// And so it is: the container's root is nobody there.
			if m := g.Table(id).At("/data/later"); m == nil || slices.Contains(m.Options, "idmapped") {
				t.Errorf("the later mount is %v, want one that is not id-mapped", m)
			}
			if _, err := g.Exec(t.Context(), id, "write", "/data/later/mine", "x"); err == nil {
				t.Errorf("root of the container writes into the later mount, as user %d of the host", ownerOf(t, filepath.Join(later, "mine")))
			}
		})
	}
}

// TestDeferredAndNotProvablyTheContainers: what was left to the applier and must
// be lowered is neither changed nor refused where the number is not provably that
// of a process of the container: it is recorded that it cannot be told.
func TestDeferredAndNotProvablyTheContainers(t *testing.T) {
	dir := harness.TestHostDirs(t).Shared
	h := startByHand(t, usersPolicy, inNamespace)
	newContainer := func(id string) *container {
		spec := privileged(bind("/data", dir.Path, "rshared"))
		spec.Linux.Namespaces = []rspec.LinuxNamespace{{Type: rspec.UserNamespace}}
		pod := testPod("lower")
		pod.Uid = id // what one pod repeats is recorded once
		c, err := h.created(pod, id, spec)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	ended := exec.Command("/bin/true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	another := newContainer("another")
	h.run(another, bound{dir.Path, "/data", 0})
	for name, pid := range map[string]func(*container) int{
		"a process of the host":         func(*container) int { return os.Getpid() },
		"the first process of the host": func(*container) int { return 1 },
		"a number that is used no more": func(*container) int { return ended.Process.Pid },
		"another container's process":   func(*container) int { return int(another.Pid) },
		"a hypervisor in a namespace with the host's tree": func(*container) int {
			cmd := exec.Command("/bin/sleep", "1000")
			h.must(harness.OnThread(func() error {
				if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
					return err
				}
				return cmd.Start()
			}))
			t.Cleanup(func() {
				_ = cmd.Process.Kill() // an error says that it has ended
				_ = cmd.Wait()         // it was killed
			})
			return cmd.Process.Pid
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := &byHand{&bench{h.Runtime, h.Ward, t}, h.state, t}
			c := newContainer(strings.NewReplacer(" ", "-", "'", "-").Replace(name))
			c.Pid = uint32(pid(c))
			tables := func() string {
				var all string
				for _, pid := range []int{int(c.Pid), int(another.Pid), os.Getpid()} {
					text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "mountinfo"))
					if err != nil && c.Pid != uint32(ended.Process.Pid) {
						t.Fatal(err)
					}
					all += string(text)
				}
				return all
			}
			before := tables()
			if err := h.start(c); err != nil {
				t.Fatalf("start: %v", err)
			}
			if after := tables(); after != before {
				t.Errorf("mounts changed from\n%s\nto\n%s", before, after)
			}
			if r, _ := h.drift(c, "/data"); r.At("findings", 0, "code") != "cannot-tell" {
				t.Errorf("record says %q", r.Message())
			}
			g := &guard{nil, h.Ward, t}
			if result, reason := g.outcome(c.Id); result != "left" || !strings.Contains(reason, "cannot tell") {
				t.Errorf("outcome %s: %s", result, reason)
			}
		})
	}
}
