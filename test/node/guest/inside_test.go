//go:build linux

package guest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestGuardInside is the same with what "make install-namespace" adds: mounts
// that the specification cannot carry are changed inside the container.
func TestGuardInside(t *testing.T) {
	n := connect(t)
	enforce(t, guardPolicy)
	s := newStack(t)
	s.Cleanup(s.restart)
	s.installed("/etc/mountward/mountward.toml")
	s.installed("/etc/systemd/system/mountward.service.d/namespace.conf")
	s.restart()

	t.Run("has three capabilities", func(t *testing.T) {
		status := processStatus(t, mainPID(t))
		for _, name := range []string{"CapPrm", "CapEff", "CapBnd"} {
			if got := status[name]; got != "00000000002c0000" { // sys_chroot, sys_ptrace, sys_admin
				t.Errorf("%s = %s", name, got)
			}
		}
		out, err := run("systemd-analyze", "security", "--no-pager", service)
		if err != nil {
			t.Fatal(err)
		}
		t.Log(lastLine(out))
	})
	n.guards(t, true)
	stays(t)
}

// installedDir is where the image has what "make install-..." puts there for
// those who want more than "make install".
const installedDir = "/usr/local/lib/node/installed"

// installed puts a file there as its installation would, until the test ends.
func (s *stack) installed(file string) {
	s.Helper()
	text, err := os.ReadFile(filepath.Join(installedDir, file))
	if err != nil {
		s.Fatal(err)
	}
	old, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.placed(file, string(text))
	case err != nil:
		s.Fatal(err)
	default:
		s.write(file, string(text))
		s.Cleanup(func() { s.write(file, string(old)) })
	}
}

// restart starts the service anew, and waits until it is connected.
func (s *stack) restart() {
	s.Helper()
	s.do("systemctl", "restart", service)
	synchronized(s.T, "_SYSTEMD_INVOCATION_ID="+property(s.T, service, "InvocationID"))
}
