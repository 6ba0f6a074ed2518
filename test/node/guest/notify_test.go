//go:build linux

package guest

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestReadiness: for systemd the service is up when it decides, and not before;
// a daemon that hangs is ended and started again.
func TestReadiness(t *testing.T) {
	n := connect(t)
	enforce(t, guardPolicy)
	t.Run("start waits for it", func(t *testing.T) {
		s := newStack(t)
		s.do("systemctl", "restart", service)
		s.synchronizedNow()
		if got := property(t, service, "StatusText"); got == "" {
			s.Error("it has no status")
		} else if out := s.do("systemctl", "status", "--no-pager", service); !strings.Contains(out, got) {
			s.Errorf("systemctl status does not say %q:\n%s", got, out)
		}
		n.decides(s, uid(760))
	})
	t.Run("start waits as long as the runtime takes", func(t *testing.T) {
		s := newStack(t)
		runtime := pidOf(s, containerdUnit)
		s.do("systemctl", "stop", service)
		if err := unix.Kill(runtime, unix.SIGSTOP); err != nil {
			s.Fatal(err)
		}
		resume := func() {
			if err := unix.Kill(runtime, unix.SIGCONT); err != nil {
				s.Error(err)
			}
		}
		s.Cleanup(resume)
		s.do("systemctl", "start", "--no-block", service)
		s.state("activating")
		resume()
		s.state("active")
		s.synchronizedNow()
	})
	t.Run("a daemon that hangs is started again", func(t *testing.T) {
		s := newStack(t)
		if got := property(t, service, "WatchdogUSec"); got != "2min" {
			s.Errorf("WatchdogUSec is %s, want that of the shipped unit", got)
		}
		s.Cleanup(s.restart)
		s.placed("/run/systemd/system/"+service+".d/sooner.conf", "[Service]\nWatchdogSec=20\n")
		s.restart()
		before := mainPID(t)
		if err := unix.Kill(before, unix.SIGSTOP); err != nil {
			s.Fatal(err)
		}
		awaitWithin(t, 3*time.Minute, "another process", func() (any, error) {
			if pid := property(t, service, "MainPID"); pid == strconv.Itoa(before) || pid == "0" {
				return nil, errNotYet
			}
			return nil, nil
		})
		s.state("active")
		if got := property(t, service, "NRestarts"); got != "1" {
			s.Errorf("it was restarted %s times, want once", got)
		}
		s.synchronizedNow()
		n.decides(s, uid(761))
	})
}

// TestRuntimeRestarts: a restart of containerd takes mountward along, which is
// connected again before a kubelet starts; the first container is decided.
func TestRuntimeRestarts(t *testing.T) {
	n := connect(t)
	enforce(t, guardPolicy)
	s := newStack(t)
	s.placed("/run/systemd/system/kubelet.service", "[Unit]\nAfter=containerd.service\n[Service]\nType=exec\nExecStart=/usr/bin/sleep infinity\n")
	s.undo("systemctl", "stop", "kubelet.service")
	before := mainPID(t)
	s.do("systemctl", "restart", containerdUnit, "kubelet.service")
	if after := mainPID(t); after == before {
		s.Fatalf("it is still process %d", after)
	}
	s.synchronizedNow()
	s.readyBeforeKubelet()
	await(t, "containerd", func() (any, error) { return run("/usr/local/bin/ctr", "version") })
	n.decides(s, uid(762))
}

// synchronizedNow wants this process of the service to have been told of the
// containers before it was up for systemd. What is recorded of that comes into
// the journal by itself, with its own time.
func (s *stack) synchronizedNow() {
	s.Helper()
	e := awaitEntry(s.T, "_SYSTEMD_INVOCATION_ID="+property(s.T, service, "InvocationID"), "MOUNTWARD_EVENT=connection", "MOUNTWARD_STATE=connected")
	stamp, _ := e.record(s.T)["time"].(string)
	told, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		s.Fatal(err)
	}
	var boot unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &boot); err != nil {
		s.Fatal(err)
	}
	since := time.Duration(boot.Nano()) - time.Duration(s.stamp(service, "ActiveEnterTimestampMonotonic"))*time.Microsecond
	if up := time.Now().Add(-since); told.After(up) {
		s.Errorf("it is up since %s, and was told of the containers at %s", up, told)
	}
}

// decides runs a container that has to be raised and is.
func (n *node) decides(s *stack, uid string) *pod {
	s.Helper()
	p := &pod{namespace: "set-rslave", name: "web", uid: uid, mounts: volumeMounts(s.dir())}
	n.start(s.T, p)
	s.raised(p)
	return p
}

// raised wants a pod's mount to be a slave of the host's.
func (s *stack) raised(p *pod) {
	s.Helper()
	if m := mountOf(s.T, p, "/data"); m.Propagation() != "private,slave" || m.Master != rootGroup(s.T) {
		s.Errorf("/data is %s with master %d, want a slave of the host's group %d", m.Propagation(), m.Master, rootGroup(s.T))
	}
}

// state waits for a state of the service.
func (s *stack) state(want string) {
	s.Helper()
	await(s.T, "the service to be "+want, func() (any, error) {
		if got := property(s.T, service, "ActiveState"); got != want {
			return nil, fmt.Errorf("it is %s", got)
		}
		return nil, nil
	})
}

// stamp is a time of a unit, in microseconds since the boot.
func (s *stack) stamp(unit, name string) int64 {
	s.Helper()
	v, err := strconv.ParseInt(property(s.T, unit, name), 10, 64)
	if err != nil || v == 0 {
		s.Fatalf("%s of %s is %d, %v", name, unit, v, err)
	}
	return v
}
