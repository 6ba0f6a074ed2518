//go:build linux

package guest

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestFailClosed is a node with what "make install-fail-closed" adds: while
// mountward is away no container is created, unless somebody says so.
func TestFailClosed(t *testing.T) {
	n := connect(t)
	enforce(t, guardPolicy)
	s := newStack(t)
	s.Cleanup(s.restartRuntime)
	s.installed("/etc/containerd/conf.d/50-mountward.toml")
	s.restartRuntime()

	t.Run("after a restart of the runtime", func(t *testing.T) {
		n.decides(s.on(t), uid(780))
		if out, code := status(t); code != 0 {
			t.Errorf("status: exit code %d: %s", code, out)
		}
	})
	t.Run("killed", func(t *testing.T) {
		s := s.on(t)
		p := &pod{namespace: "set-rslave", name: "killed", uid: uid(781), mounts: volumeMounts(s.dir())}
		if err := n.runSandbox(t, p); err != nil {
			t.Fatal(err)
		}
		before := mainPID(t)
		if err := unix.Kill(before, unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		err := n.createContainer(t, p)
		if err == nil || !strings.Contains(err.Error(), "mountward") && !strings.Contains(err.Error(), "closed") {
			t.Errorf("error = %v, want a rejection", err)
		}
		tries := 1
		p.container = "again"
		await(t, "systemd to have it back", func() (any, error) {
			tries++
			return nil, n.createContainer(t, p)
		})
		t.Logf("created at try %d", tries)
		if after := mainPID(t); after == before {
			t.Errorf("created while process %d was away", before)
		}
		if err := n.startContainer(t, p); err != nil {
			t.Fatal(err)
		}
		s.raised(p)
		s.do("systemctl", "reset-failed", service)
	})
	t.Run("an emergency of a daemon that runs", func(t *testing.T) {
		s := s.on(t)
		s.do("/usr/bin/mountward", "emergency", "--for", "10m")
		s.unjudged(n, uid(782))
		if out, code := status(t); code != 1 || !strings.Contains(strings.ToLower(out), "emergency") {
			s.Errorf("status: exit code %d: %s", code, out)
		}
		s.do("/usr/bin/mountward", "emergency", "--end")
		n.decides(s, uid(783))
	})
	t.Run("an emergency where none runs", func(t *testing.T) {
		s := s.on(t)
		s.Cleanup(s.restart)
		s.do("systemctl", "stop", service)
		refused := &pod{namespace: "none", name: "away", uid: uid(784)}
		if err := n.tryStart(t, refused); err == nil || !strings.Contains(err.Error(), "required plugin") {
			s.Errorf("error = %v, want a rejection", err)
		}
		emergency := exec.Command("/usr/bin/mountward", "emergency", "--for", "10m")
		if err := emergency.Start(); err != nil {
			s.Fatal(err)
		}
		s.Cleanup(func() {
			_ = emergency.Process.Kill() // an error says that it has ended
			_ = emergency.Wait()
		})
		refused.container = "again"
		await(t, "the command to take the place", func() (any, error) { return nil, n.createContainer(t, refused) })
		s.unjudged(n, uid(785))
		s.do("/usr/bin/mountward", "emergency", "--end")
		await(t, "the end of the command", func() (any, error) {
			if got, err := unix.Wait4(emergency.Process.Pid, nil, unix.WNOHANG|unix.WNOWAIT, nil); got != 0 || err != nil {
				return nil, nil
			}
			return nil, errNotYet
		})
	})
}

// unjudged runs a container that a rule would raise, and wants it as it asks.
func (s *stack) unjudged(n *node, uid string) {
	s.Helper()
	p := &pod{namespace: "set-rslave", name: "unjudged", uid: uid, mounts: volumeMounts(s.dir())}
	n.start(s.T, p)
	if got := mountOf(s.T, p, "/data").Propagation(); got != "private" {
		s.Errorf("/data is %s, want private, as asked", got)
	}
}

// status is what "mountward status" prints, and its exit code.
func status(t *testing.T) (string, int) {
	t.Helper()
	cmd := exec.Command("/usr/bin/mountward", "status", "-o", "json")
	out, _ := cmd.CombinedOutput()
	if !json.Valid(out) {
		t.Errorf("status prints %s", out)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// restartRuntime starts containerd anew, and mountward with it.
func (s *stack) restartRuntime() {
	s.Helper()
	s.do("systemctl", "restart", containerdUnit)
	restarted(s)
}
