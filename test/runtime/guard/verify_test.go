//go:build linux

package guard_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mountward/mountward/test/runtime/harness"
)

const auditPolicy = "version = 1\nmode = \"audit\"\ndefault = \"allow\"\n"

// TestMoreThanDecided: a container whose mount lets more through than was
// decided is stopped, in enforce mode and not a static pod.
func TestMoreThanDecided(t *testing.T) {
	const (
		private = unix.MS_PRIVATE
		slave   = unix.MS_SLAVE
		shared  = uintptr(0)
	)
	enforce := rulesByNamespace
	tests := []struct {
		name      string
		policy    string
		namespace string
		static    bool
		asked     string
		has       uintptr
		refused   string // in the error, "" for none
		drift     string // in the record, "" for none
	}{
		{"private as asked", enforce, "other", false, "rprivate", private, "", ""},
		{"slave as asked", enforce, "other", false, "rslave", slave, "", ""},
		{"shared as asked", enforce, "other", false, "rshared", shared, "", ""},
		{"raised to slave", enforce, "raise", false, "rprivate", slave, "", ""},
		{"lowered to private", enforce, "lower", false, "rshared", private, "", ""},

		{"private asked, is slave", enforce, "other", false, "rprivate", slave, "mount /data has more propagation than decided", "refused the start"},
		{"private asked, is shared", enforce, "other", false, "rprivate", shared, "mount /data has more propagation than decided", "refused the start"},
		{"slave asked, is shared", enforce, "other", false, "rslave", shared, "decided rslave, the kernel has shared:", "refused the start"},
		{"lowered to private, is shared", enforce, "lower", false, "rshared", shared, "decided rprivate, the kernel has shared:", "refused the start"},
		{"raised to slave, is shared", enforce, "raise", false, "rprivate", shared, "decided rslave, the kernel has shared:", "refused the start"},

		{"slave asked, is private", enforce, "other", false, "rslave", private, "", "less propagation than decided"},
		{"raised to slave, is private", enforce, "raise", false, "rprivate", private, "", "less propagation than decided"},
		{"shared asked, is slave", enforce, "other", false, "rshared", slave, "", "less propagation than decided"},

		{"more, audit mode", auditPolicy, "other", false, "rprivate", shared, "", "more propagation than decided"},
		{"more, a static pod", enforce, "other", true, "rprivate", shared, "", "more propagation than decided"},
		{"lowered to private, is shared, a static pod", enforce, "lower", true, "rshared", shared, "", "more propagation than decided"},
	}
	dir := harness.TestHostDirs(t).Shared
	for i, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := startByHand(t, test.policy, "")
			pod := testPod(test.namespace)
			if test.static {
				pod.Annotations = map[string]string{"kubernetes.io/config.source": "file"}
			}
			c, err := h.created(pod, fmt.Sprintf("c%d", i), privileged(bind("/data", dir.Path, test.asked)))
			if err != nil {
				t.Fatal(err)
			}
			h.run(c, bound{dir.Path, "/data", test.has})
			err = h.start(c)
			if test.refused == "" && err != nil || test.refused != "" && (err == nil || !strings.Contains(err.Error(), test.refused)) {
				t.Fatalf("start: error = %v, want %q", err, test.refused)
			}
			if test.drift == "" {
				h.no("drift", c)
				return
			}
			r, proof := h.drift(c, "/data")
			if proof["verdict"] != "drift" || !strings.Contains(r.Message(), test.drift) {
				t.Errorf("/data is %v, record says %q, want %q", proof["verdict"], r.Message(), test.drift)
			}
			if refused, _ := r["refused"].(bool); refused != (test.refused != "") {
				t.Errorf("record: refused = %t, error = %v", refused, err)
			}
			if test.refused == "" {
				h.await("task", c.Id)
			}
		})
	}
}

// TestNotProvablyTheContainers: a number that is not, or not provably, that of
// a process of the container says nothing about it. With the same mounts such a
// container would be refused.
func TestNotProvablyTheContainers(t *testing.T) {
	dir := harness.TestHostDirs(t).Shared
	h := startByHand(t, rulesByNamespace, "")
	newContainer := func(id string) *container {
		c, err := h.created(testPod("other"), id, privileged(bind("/data", dir.Path, "rprivate")))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	more := bound{dir.Path, "/data", 0}
	proven := newContainer("proven")
	h.run(proven, more)
	if err := h.start(proven); err == nil {
		t.Fatal("more than decided was not refused: the cases below would show nothing")
	}

	ended := exec.Command("/bin/true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*container){
		"a process of the host":         func(c *container) { c.Pid = uint32(os.Getpid()) },
		"the first process of the host": func(c *container) { c.Pid = 1 },
		"a dead process":                func(c *container) { c.Pid = uint32(ended.Process.Pid) },
		"no process":                    func(c *container) { c.Pid = 0 },
		"a number beyond all":           func(c *container) { c.Pid = 1 << 31 },
		"the process of another":        func(c *container) { c.Pid = proven.Pid },
		// An id with an apostrophe has no entry that could be read: that does not
		// mean that the container was created unseen.
		"another container's process": func(c *container) { c.Pid = proven.Pid },
		"without a bundle": func(c *container) {
			h.run(c, more)
			if err := unix.Unmount(c.rootfs, unix.MNT_DETACH); err != nil {
				t.Fatal(err)
			}
			if err := os.RemoveAll(c.bundle); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := &byHand{&bench{h.Runtime, h.Ward, t}, h.state, t}
			c := newContainer(strings.ReplaceAll(name, " ", "-"))
			change(c)
			if err := h.start(c); err != nil {
				t.Fatalf("start: %v", err)
			}
			r, proof := h.drift(c, "/data")
			if proof != nil {
				t.Errorf("there is a proof about a process that is not the container's: %v", proof)
			}
			if code := r.At("findings", 0, "code"); code != "cannot-tell" {
				t.Errorf("finding = %v, want cannot-tell: %s", code, r.Message())
			}
			if !strings.Contains(r.Message(), "not proved to be the container's") {
				t.Errorf("record says %q", r.Message())
			}
			task := h.await("task", c.Id)
			if why, _ := task.At("rootfs", "no_lv").(string); !strings.Contains(why, "cannot tell") {
				t.Errorf("the map says %q of the root file system, want that it cannot tell", why)
			}
			if mounts, _ := task["mounts"].([]any); len(mounts) != 0 {
				t.Errorf("the map has %d mounts of a process that is not the container's", len(mounts))
			}
		})
	}
	if err := h.start(proven); err == nil {
		t.Error("the plugin no longer refuses")
	}
}
