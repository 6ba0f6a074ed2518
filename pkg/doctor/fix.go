package doctor

import (
	"fmt"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/shell"
)

// keep is said with every fix that shares a mount.
const keep = "; containers that run keep what they were started with until they are made anew"

// fixes are what mends a path that is not shared as it must be.
func (n *node) fixes(at looked) []Fix {
	if !at.space[0].Same(n.home[0]) {
		return n.rejoin(at)
	}
	point := at.mount.MountPoint
	now := Fix{
		What:     fmt.Sprintf("share the mount at %s now, with all that is mounted below it", word(point)) + keep,
		Commands: []string{at.enter() + share(point)},
	}
	if _, outside := n.sharedOutside(at); outside { // what matters is all in there
		return append([]Fix{now}, n.namespaceFixes(at.space)...)
	}
	all := []Fix{now, n.persistent(point)}
	if root := n.Kubelet.Canonical; point == "/" && n.initSystem() == initSystemd && plain(root) && facts.Within(at.canonical, root) {
		all = append(all, n.kubeletDropIn(at, root))
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

func share(point string) string { return "mount --make-rshared " + shell.Quote(point) }

// kubeletDropIn shares the kubelet's root alone, where / shall stay as it is.
func (n *node) kubeletDropIn(at looked, root string) Fix {
	name := "kubelet.service"
	if p, ok := n.Place(RoleKubelet); ok && strings.HasSuffix(p.Process.Owner.Unit, ".service") {
		name = p.Process.Owner.Unit
	}
	f := Fix{
		What:       fmt.Sprintf("share %s alone, before each start of %s, by a bind of it on itself; it would cover what is mounted below, so it is made only where nothing is", word(root), name),
		File:       "/etc/systemd/system/" + name + ".d/10-shared-root.conf",
		Content:    "[Service]\nExecStartPre=/bin/sh -c '" + bindAndShare(root) + "'\n",
		Commands:   []string{"systemctl daemon-reload"},
		Persistent: true,
	}
	if below := mountsBelow(at.space, root); below > 0 {
		f.What += fmt.Sprintf(": %d mounts are there now, so drain the node and reboot it then", below)
	} else {
		f.Commands = append(f.Commands, "systemctl restart "+shell.Quote(name))
	}
	f.What += keep
	return f
}

// bindAndShare shares a directory that may be no mount yet; its name is a plain
// one. It can be run again: a bind for each start would stack up until no mount
// is possible. Where anything is mounted below, no bind is made: without those
// mounts it hides them from everybody, and with them it doubles them, so that
// each stays in use below its copy.
func bindAndShare(dir string) string {
	return fmt.Sprintf(`mountpoint -q %[1]s || grep -qF " %[1]s/" /proc/self/mountinfo || mount --bind %[1]s %[1]s; ! mountpoint -q %[1]s || mount --make-rshared %[1]s`, dir)
}

// mountsBelow counts the mounts below a directory, hidden ones too.
func mountsBelow(sp space, dir string) int {
	count := 0
	for e := range sp.first().Table.All() {
		if rest, below := facts.Below(e.MountPoint, dir); below && rest != "" {
			count++
		}
	}
	return count
}

// plain reports whether a path means itself in a shell and in a unit file.
func plain(p string) bool {
	return p != "" && strings.Trim(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:@,=") == ""
}
