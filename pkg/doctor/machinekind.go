package doctor

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/mountward/mountward/pkg/internal/wait"
)

// The service managers, by what a persistent fix has to look like.
const (
	initSystemd = "systemd"
	initOpenRC  = "OpenRC"
	initUpstart = "upstart"
	initRunit   = "runit"
	initOther   = "other"
)

// initSystem tells the service manager by the name of process 1 and by what is
// there.
func (s *Snapshot) initSystem() string {
	comm := s.initComm()
	switch {
	case comm == "systemd":
		return initSystemd
	case strings.HasPrefix(comm, "runit"):
		return initRunit
	case strings.HasPrefix(comm, "openrc") || s.exists("/run/openrc"):
		return initOpenRC
	case s.exists("/run/systemd/system"): // see sd_booted(3): Debian's is named init
		return initSystemd
	case comm == "init" && s.exists("/etc/init/rc.conf"):
		return initUpstart
	default:
		return initOther
	}
}

func (s *Snapshot) initComm() string {
	p, _ := s.Place(RoleInit)
	return p.Process.Comm
}

func (s *Snapshot) exists(path string) bool {
	if s.Files == nil {
		return false
	}
	_, err := s.Files.Canonical(s.Context, path)
	return err == nil
}

// container returns the kind of container that the node itself is, "" for none
// that can be seen.
//
// Source: systemd's container interface (/run/systemd/container, container= in
// the environment of process 1), docker's and podman's marks, lxc's control
// groups.
func (n *node) container() string {
	if n.Files != nil {
		if text, err := n.Files.ReadFile(n.Context, "/run/systemd/container", 256); err == nil {
			if kind := strings.TrimSpace(string(text)); kind != "" {
				return kind
			}
		}
	}
	for _, mark := range []struct{ path, kind string }{{"/.dockerenv", "docker"}, {"/run/.containerenv", "podman"}} {
		if n.exists(mark.path) && !n.ownDisk() {
			return mark.kind
		}
	}
	if text, err := os.ReadFile(n.Proc + "/1/cgroup"); err == nil {
		for _, kind := range []string{"lxc", "docker", "kubepods", "libpod"} {
			if strings.Contains(string(text), "/"+kind) {
				return kind
			}
		}
	}
	return containerVariable(environ(n.Context, n.Proc+"/1/environ"))
}

// ownDisk reports that / is all of a file system on a device: then the marks of
// docker and podman came with the image that a machine's disk was made from.
func (n *node) ownDisk() bool {
	p, ok := n.Place(RoleInit)
	if !ok || p.Table == nil {
		return false
	}
	root, ok := p.Table.At("/")
	return ok && root.Root == "/" && root.Device.Major != 0
}

// containerVariable returns the kind of container that an environment names.
func containerVariable(environ string) string {
	for variable := range strings.SplitSeq(environ, "\x00") {
		if kind, ok := strings.CutPrefix(variable, "container="); ok {
			return kind
		}
	}
	return ""
}

// environ reads an environment, which is the memory of a process and can hang.
func environ(ctx context.Context, path string) string {
	// It is root's alone: without it, there is one sign less.
	text, _ := wait.For(ctx, time.Second, func() ([]byte, error) { return os.ReadFile(path) }, nil)
	return string(text)
}

// wsl reports Microsoft's kernel.
func (n *node) wsl() bool {
	release, err := os.ReadFile(n.Proc + "/sys/kernel/osrelease")
	return err == nil && strings.Contains(strings.ToLower(string(release)), "microsoft")
}
