package doctor

import (
	"fmt"
	"slices"
	"strings"
)

// keep is said with every fix that shares a mount.
const keep = "; containers that run keep what they were started with until they are made anew"

// fixes are what mends a path that is not shared as it must be.
func (n *node) fixes(at looked) []Fix {
	point := at.mount.MountPoint
	now := Fix{
		What:     fmt.Sprintf("share the mount at %s now, with all that is mounted below it", word(point)) + keep,
		Commands: []string{at.enter() + share(point)},
	}
	if _, outside := n.sharedOutside(at); outside {
		if at.space[0].Same(n.home[0]) { // what matters is all in there
			return append([]Fix{now}, n.namespaceFixes(at.space)...)
		}
		return n.namespaceFixes(at.space)
	}
	all := []Fix{now, n.persistent(point)}
	if root := n.Kubelet.Canonical; point == "/" && n.initSystem() == initSystemd && root != "" && plain(root) && strings.HasPrefix(at.canonical, root) {
		all = append(all, n.kubeletDropIn(root))
	}
	return all
}

// enter is what a command needs before it to be run in the space.
func (sp space) enter() string {
	if sp.has(RoleInit) {
		return ""
	}
	return fmt.Sprintf("nsenter --mount=/proc/%d/ns/mnt ", sp.first().Process.PID)
}

func share(point string) string { return "mount --make-rshared " + quote(point) }

// bindAndShare shares a directory that may be no mount yet. It can be run
// again: a bind for each start would stack up until no mount is possible.
func bindAndShare(dir string) string {
	return fmt.Sprintf("mountpoint -q %[1]s || mount --bind %[1]s %[1]s; mount --make-rshared %[1]s", quote(dir))
}

// persistent is what does the same at every boot.
func (n *node) persistent(point string) Fix {
	f := Fix{What: fmt.Sprintf("share the mount at %s at every boot, before the kubelet and the runtime start", word(point)), Persistent: true}
	command := share(point)
	system := n.initSystem()
	switch kind := n.container(); {
	case kind != "" && kind != "lxc" && kind != "lxc-libvirt":
		f.What = fmt.Sprintf("share the mount at %s in the entrypoint of the node's container (%s), before it starts the kubelet: %s", word(point), kind, command)
	case n.wsl() && system != initSystemd:
		f.File, f.Content = "/etc/wsl.conf", "[boot]\ncommand = "+command+"\n"
		f.What += "; where the file has a [boot] section already, add the line to it"
	case !plain(point):
		f.What += "; the path has characters that each file format writes in its own way: " + command
	case system == initSystemd:
		name := "shared-" + unitName(point) + ".service"
		f.File, f.Content = "/etc/systemd/system/"+name, serviceUnit(point, command)
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
		f.File, f.Content = "/etc/rc.local", "#!/bin/sh\n"+command+"\n"
		f.Commands = []string{"chmod +x /etc/rc.local"}
		f.What += "; where there is an rc.local already, add the line to it before any exit"
	}
	return f
}

func serviceUnit(point, command string) string {
	return `[Unit]
Description=Share the mount at ` + point + `
DefaultDependencies=no
RequiresMountsFor=` + point + `
After=local-fs.target
Before=kubelet.service containerd.service k3s.service k3s-agent.service crio.service docker.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh -c '` + command + `'

[Install]
WantedBy=multi-user.target
`
}

// kubeletDropIn shares the kubelet's root alone, where / shall stay as it is.
func (n *node) kubeletDropIn(root string) Fix {
	name := "kubelet.service"
	if p, ok := n.Place(RoleKubelet); ok && strings.HasSuffix(p.Process.Owner.Unit, ".service") {
		name = p.Process.Owner.Unit
	}
	return Fix{
		What:       fmt.Sprintf("or share %s alone, before each start of %s", word(root), name) + keep,
		File:       "/etc/systemd/system/" + name + ".d/10-shared-root.conf",
		Content:    "[Service]\nExecStartPre=/bin/sh -c '" + bindAndShare(root) + "'\n",
		Commands:   []string{"systemctl daemon-reload", "systemctl restart " + name},
		Persistent: true,
	}
}

// namespaceFixes put what is in a mount namespace of its own back into the
// host's.
func (n *node) namespaceFixes(sp space) []Fix {
	var all []Fix
	done := map[string]bool{}
	for _, place := range sp {
		u := n.unitOf(place.Process)
		if len(u.options) == 0 || done[u.name] || strings.HasPrefix(u.name, "snap.") {
			continue
		}
		done[u.name] = true
		sections := map[string][]string{}
		for _, o := range u.options {
			if !slices.Contains(sections[o.Section], o.Reset) {
				sections[o.Section] = append(sections[o.Section], o.Reset)
			}
		}
		content := ""
		for _, section := range []string{"Service", "Socket", "Mount", "Swap"} {
			if lines := sections[section]; len(lines) > 0 {
				content += "[" + section + "]\n" + strings.Join(lines, "\n") + "\n"
			}
		}
		all = append(all, Fix{
			What:     fmt.Sprintf("let %s be in the host's mount namespace", u.name) + keep,
			File:     "/etc/systemd/system/" + u.name + ".d/90-host-mounts.conf",
			Content:  content,
			Commands: []string{"systemctl daemon-reload", "systemctl restart " + u.name}, Persistent: true,
		})
	}
	if len(all) > 0 {
		return all
	}
	place := sp.first()
	what := fmt.Sprintf("start %s in the host's mount namespace, or have what makes its namespace make it with shared propagation (unshare --propagation shared, rootlesskit --propagation=rshared)", place.Process.Comm)
	switch {
	case strings.HasPrefix(place.Process.Owner.Unit, "snap."):
		what = "have the snap share it in its mount namespace whenever it starts, or take the layout of this path out of the snap"
	case place.User != 0 && place.User != n.userOfInit():
		what = fmt.Sprintf("no setting inside links a namespace of another user namespace with the host: have what makes it share propagation inside it (rootlesskit --propagation=rshared), or run %s as root on the host", place.Process.Comm)
	}
	return []Fix{{What: what, Persistent: true}}
}

// plain reports whether a path means itself in a shell and in a unit file.
func plain(p string) bool {
	return p != "" && strings.Trim(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:@,=") == ""
}

// quote writes a word for a shell.
func quote(s string) string {
	if plain(s) && !strings.HasPrefix(s, "-") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// unitName writes a plain path as a part of a file name.
func unitName(p string) string {
	name := strings.ReplaceAll(strings.Trim(p, "/"), "/", "-")
	if name == "" {
		return "root"
	}
	return name
}
