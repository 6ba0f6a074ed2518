package doctor

import (
	"strings"

	"github.com/mountward/mountward/pkg/discover"
	"github.com/mountward/mountward/pkg/internal/shell"
)

// The service of mountward, as its package names it.
const mountwardService = "mountward"

// command returns what makes the service manager of this machine do something
// ("start", "restart") to a service, "" where it is none that is known.
func (s *Snapshot) command(verb, service string) string {
	switch service = shell.Quote(service); s.initSystem() {
	case initSystemd:
		return "systemctl " + verb + " " + service
	case initOpenRC:
		return "rc-service " + service + " " + verb
	case initUpstart:
		return "service " + service + " " + verb
	case initRunit:
		return "sv " + verb + " " + service
	default:
		return ""
	}
}

// serviceFix is a fix by commands on mountward's service, the last of which is
// given by its verb. Where no service manager is known it is said that a person must.
func (s *Snapshot) serviceFix(what, verb string, before ...string) Fix {
	f := Fix{What: what, Commands: before}
	if command := s.command(verb, mountwardService); command != "" {
		f.Commands = append(f.Commands, command)
		return f
	}
	f.What += s.byHand()
	return f
}

// byHand says why there is no command.
func (s *Snapshot) byHand() string {
	return ", by what starts services here: process 1 is " + word(s.initComm()) + ", which is no service manager that is known"
}

// starting is the fix for a mountward that does not run.
func (s *Snapshot) starting() Fix {
	if s.initSystem() == initSystemd {
		return Fix{What: "start it", Commands: []string{"systemctl enable --now " + mountwardService}, Persistent: true}
	}
	return s.serviceFix("start it", "start")
}

// seeing is the fix for a mountward that is not connected.
func (s *Snapshot) seeing() Fix {
	const what = "see why, then restart it"
	if s.initSystem() == initSystemd {
		return s.serviceFix(what, "restart", "journalctl -u "+mountwardService+" -n 20")
	}
	return s.serviceFix(what, "restart")
}

// restarting adds the restart of containerd to a fix that is ready but for that.
func (r *containerd) restarting(f Fix) Fix {
	if command := r.restart(); command != "" {
		f.Commands = append(f.Commands, command)
	} else {
		f.What += "; restart it" + r.byHand()
	}
	return f
}

// restart is the command that restarts containerd, "" where none is known: that
// of its unit, which is that of the whole where a distribution runs its own.
func (r *containerd) restart() string {
	for _, role := range []string{RoleRuntime, RoleKubelet} {
		p, ok := r.Place(role)
		if unit := p.Process.Owner.Unit; ok && strings.HasSuffix(unit, ".service") && (role == RoleRuntime || r.embedded()) {
			return "systemctl restart " + shell.Quote(unit) // whose control group it is
		}
	}
	var commands []string
	for _, name := range r.services() {
		if command := r.command("restart", name); command != "" {
			commands = append(commands, command)
		}
	}
	return strings.Join(commands, " || ")
}

// embedded reports a distribution whose kubelet starts the containerd.
func (r *containerd) embedded() bool {
	switch r.Runtime.Distribution {
	case discover.K3s, discover.RKE2, discover.K0s:
		return true
	default:
		return false
	}
}

// services are the names of the service that runs containerd, those of a server
// and of an agent where it is not known which the node is.
func (r *containerd) services() []string {
	switch r.Runtime.Distribution {
	case discover.K3s:
		return []string{"k3s", "k3s-agent"}
	case discover.RKE2:
		return []string{"rke2-server", "rke2-agent"}
	case discover.K0s:
		return []string{"k0sworker", "k0scontroller"}
	case discover.MicroK8s:
		return []string{"snap.microk8s.daemon-containerd"}
	case discover.Docker:
		return []string{"docker"}
	default:
		return []string{"containerd"}
	}
}
