package doctor

import (
	"fmt"
	"slices"
	"strings"
)

// persistent is what shares a mount at every boot.
func (n *node) persistent(point string) Fix {
	f := Fix{What: fmt.Sprintf("share the mount at %s at every boot, before the kubelet and the runtime start", word(point)), Persistent: true}
	command := share(point)
	system := n.initSystem()
	switch kind := n.container(); {
	case kind != "" && kind != "lxc" && kind != "lxc-libvirt":
		f.What = fmt.Sprintf("share the mount at %s in the entrypoint of the node's container (%s), before it starts the kubelet: %s", word(point), kind, command)
	case n.wsl() && system != initSystemd:
		f.File, f.Content, f.Add = "/etc/wsl.conf", "[boot]\ncommand = "+command+"\n", true
		f.What += "; where the file has a [boot] section already, the second line belongs into it"
	case !plain(point):
		f.What += "; the path has characters that each file format writes in its own way: " + command
	case system == initSystemd:
		name := "shared-" + unitName(point) + ".service"
		f.File, f.Content = "/etc/systemd/system/"+name, n.bootUnit(point, command)
		f.Commands = []string{"systemctl daemon-reload", "systemctl enable --now " + name}
	case system == initUpstart:
		f.File = "/etc/init/shared-" + unitName(point) + ".conf"
		f.Content = "description \"share the mount at " + point + "\"\nstart on filesystem\ntask\nexec " + command + "\n"
	case system == initOpenRC:
		f.File, f.Content = "/etc/local.d/shared-"+unitName(point)+".start", "#!/bin/sh\n"+command+"\n"
		f.Commands = []string{"chmod +x " + f.File, "rc-update add local default"}
	case system == initRunit:
		f.File, f.Content = "/etc/runit/core-services/90-shared-"+unitName(point)+".sh", command+"\n"
	default:
		f.File, f.Content, f.Add = "/etc/rc.local", command+"\n", true
		f.Commands = []string{"chmod +x /etc/rc.local"}
		f.What += "; before any exit that is in the file, and after a first line #!/bin/sh"
	}
	return f
}

// bootUnit is a unit that shares a mount before what needs it starts.
func (n *node) bootUnit(point, command string) string {
	return `[Unit]
Description=Share the mount at ` + point + `
DefaultDependencies=no
RequiresMountsFor=` + point + `
After=local-fs.target
Before=` + strings.Join(n.servicesOfNode(), " ") + `

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh -c '` + command + `'

[Install]
WantedBy=multi-user.target
`
}

// servicesOfNode are the services that kubelet and runtime run in here, and those
// that they mostly run in: a name that does not exist costs nothing.
func (n *node) servicesOfNode() []string {
	all := []string{"kubelet.service", "containerd.service", "k3s.service", "k3s-agent.service", "crio.service", "docker.service"}
	for _, role := range []string{RoleRuntime, RoleKubelet} {
		p, ok := n.Place(role)
		if unit := p.Process.Owner.Unit; ok && plain(unit) && strings.HasSuffix(unit, ".service") && !slices.Contains(all, unit) {
			all = append([]string{unit}, all...)
		}
	}
	return all
}

// unitName writes a plain path as a part of a file name.
func unitName(p string) string {
	name := strings.ReplaceAll(strings.Trim(p, "/"), "/", "-")
	if name == "" {
		return "root"
	}
	return name
}
