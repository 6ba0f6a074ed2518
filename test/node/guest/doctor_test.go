//go:build linux

package guest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mountward/mountward/test/runtime/harness"
)

const containerdUnit = "containerd.service"

// kubelet is a process of this name, as a service. doctor knows the kubelet by
// its process.
func (s *stack) kubelet() {
	s.Helper()
	program := filepath.Join(s.dir(), "kubelet")
	s.do("cp", "/usr/bin/sleep", program)
	s.made(podsDir)
	s.unit("kubelet.service", "[Service]\nType=exec\nExecStart="+program+" infinity\n")
}

// TestDoctor: a node with a kubelet, containerd, pods and volumes has nothing
// wrong. What is made wrong is told, with what made it so, and what mends it
// does, as it is printed.
func TestDoctor(t *testing.T) {
	n := connect(t)
	s := newStack(t)
	s.kubelet()
	for _, test := range []struct {
		name string
		run  func(*stack, *node)
	}{
		{"a sound node", soundNode},
		{"containerd in a mount namespace of its own", runtimeApart},
		{"a private root", privateRoot},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(s.on(t), n) })
	}
}

// soundNode keeps what it looked at in the results of a run of this test alone
// (RUN=TestDoctor/sound), for that takes a minute: it can be a node of test/hosts.
func soundNode(s *stack, n *node) {
	s.vg("vg0", s.loop("a", 64))
	v := s.publish("pvc-1", uid(600), "ext4")
	p := &pod{namespace: "db", name: "db-0", uid: uid(600), mounts: volumeMounts(v.path)}
	n.start(s.T, p)
	n.start(s.T, hostAgent(uid(601), false))

	a := s.sound()
	if fmt.Sprint(a.Kubelet.PID) != property(s.T, "kubelet.service", "MainPID") || a.Kubelet.Root != kubeletRoot {
		s.Errorf("kubelet %+v, want that of kubelet.service with %s", a.Kubelet, kubeletRoot)
	}
	if fmt.Sprint(a.Runtime.PID) != property(s.T, containerdUnit, "MainPID") || a.Runtime.State != "/run/containerd" || a.Runtime.Config != "/etc/containerd/config.toml" {
		s.Errorf("runtime %+v, want that of %s", a.Runtime, containerdUnit)
	}
	if a.Containers != 4 {
		s.Errorf("%d containers, want 2 of each pod", a.Containers)
	}
	s.Logf("mountward doctor:\n%s", printed(s.T, "doctor"))
	if out, err := run("/usr/bin/mountward", "doctor", "--oneline"); err != nil || len(out) > 81 {
		s.Errorf("doctor --oneline: %v, %q", err, out)
	}
	before := filepath.Join(s.dir(), "before.json")
	s.write(before, output(s.T, "/usr/bin/mountward", "doctor", "-o", "json"))
	s.sound("--baseline", before)
	if strings.Contains(os.Getenv("NODE_RUN"), "sound") {
		s.write("host.txtar", output(s.T, "/usr/local/lib/node/capture"))
	}
}

// restarted waits until containerd answers again, and mountward, which systemd
// restarts with it, is connected.
func restarted(s *stack) {
	s.Helper()
	await(s.T, "containerd", func() (any, error) { return run("/usr/local/bin/ctr", "version") })
	synchronized(s.T, "_SYSTEMD_INVOCATION_ID="+property(s.T, service, "InvocationID"))
}

// runtimeApart: an option of containerd's unit that somebody set once.
func runtimeApart(s *stack, _ *node) {
	const dropIn = "/etc/systemd/system/" + containerdUnit + ".d/50-slave.conf"
	s.Cleanup(func() {
		s.do("systemctl", "restart", containerdUnit)
		restarted(s)
	})
	s.placed(dropIn, "# from an old guide\n[Service]\nMountFlags=slave\n")
	s.do("systemctl", "restart", containerdUnit)
	restarted(s)

	a := s.doctor(exitFound)
	for _, path := range []string{kubeletRoot, podsDir} {
		f := s.problem(a, "slave-only", path)
		for _, part := range []string{"MountFlags=slave", dropIn + ":3"} {
			if !strings.Contains(f.Cause, part) {
				s.Errorf("cause %q of %s, want %s", f.Cause, path, part)
			}
		}
		if !strings.Contains(f.Where, "containerd["+property(s.T, containerdUnit, "MainPID")+"]") || !strings.Contains(f.Evidence[0].Text, " master:") {
			s.Errorf("where or evidence of %s", f)
		}
	}
	line, err := run("/usr/bin/mountward", "doctor", "--oneline")
	if err == nil || len(line) > 81 || !strings.Contains(line, kubeletRoot) {
		s.Errorf("doctor --oneline: %v, %q", err, line)
	}
	s.Logf("mountward doctor --oneline: %s", line)

	s.mended(s.problem(a, "slave-only", kubeletRoot), func(f fix) bool { return f.Persistent })
	restarted(s)
	s.sound()
}

// privateRoot: by hand, or by a program of another time.
func privateRoot(s *stack, _ *node) {
	if err := unix.Mount("", "/", "", unix.MS_PRIVATE, ""); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { // also where nothing mended it
		if err := unix.Mount("", "/", "", unix.MS_SHARED, ""); err != nil {
			s.Error(err)
		}
		// Those have namespaces of their own, which follow the host no more.
		s.do("systemctl", "restart", "systemd-udevd.service", "systemd-logind.service")
	})
	a := s.doctor(exitFound)
	f := s.problem(a, "not-shared", kubeletRoot)
	mounts, err := harness.Mountinfo(1)
	if err != nil {
		s.Fatal(err)
	}
	if root := mounts.At("/"); !strings.HasPrefix(f.Evidence[0].Text, fmt.Sprintf("%d ", root.ID)) {
		s.Errorf("evidence %+v, want the mount %d", f.Evidence, root.ID)
	}
	if !strings.Contains(f.Cause, "something made it private later") || !strings.Contains(f.Effect, "Bidirectional") {
		s.Errorf("cause %q, effect %q", f.Cause, f.Effect)
	}
	persistent := func(f fix) bool { return f.Persistent && strings.HasSuffix(f.File, "/shared-root.service") }
	s.mended(f, persistent)
	s.sound()
	s.do("systemctl", "disable", "--now", "shared-root.service")
	if _, err := os.Lstat("/etc/systemd/system/multi-user.target.wants/shared-root.service"); err == nil {
		s.Error("the fix is still enabled")
	}
}
