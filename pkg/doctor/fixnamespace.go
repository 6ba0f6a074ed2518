package doctor

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/internal/shell"
)

// rejoin are the fixes of a path in a mount namespace that is not the host's. To
// share its mount in there would link it with nobody: mounts are peers when one
// was copied from the other while that was shared. So the host's is shared
// first, and then the namespace has to go, or to be made anew.
func (n *node) rejoin(at looked) []Fix {
	all := n.namespaceFixes(at.space)
	host, why := n.look(n.home, at.path)
	if why != "" || host.mount.State.Shared() || n.otherUser(at.first()) {
		return all
	}
	point := host.mount.MountPoint
	for i := range all {
		all[i].What = fmt.Sprintf("share the host's mount at %s first (what does it at every boot is with the problem of the host), then %s", word(point), all[i].What)
		all[i].Commands = append([]string{host.enter() + share(point)}, all[i].Commands...)
	}
	return all
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
			File:     "/etc/systemd/system/" + u.name + ".d/" + lastDropIn(u.dropIns),
			Content:  content,
			Commands: []string{"systemctl daemon-reload", "systemctl restart " + shell.Quote(u.name)}, Persistent: true,
		})
	}
	if len(all) == 0 {
		all = []Fix{n.outsideFix(sp.first())}
	}
	return all
}

// outsideFix is for a namespace that no file of a unit accounts for.
func (n *node) outsideFix(place Place) Fix {
	f := Fix{Persistent: true}
	unit := place.Process.Owner.Unit
	outside := "or have what makes its namespace make it with shared propagation (unshare --propagation shared, rootlesskit --propagation=rshared)"
	switch {
	case strings.HasPrefix(unit, "snap."):
		f.What = "have the snap share it in its mount namespace whenever it starts, or take the layout of this path out of the snap"
	case n.otherUser(place):
		f.What = fmt.Sprintf("no setting inside links a namespace of another user namespace with the host: have what makes it share propagation inside it (rootlesskit --propagation=rshared), or run %s as root on the host", place.Process.Comm)
	case strings.HasSuffix(unit, ".service") && n.initSystem() == initSystemd:
		f.What = fmt.Sprintf("start %s anew: it can be that its files were changed since it started; if it is in a namespace of its own then too, start its %s in the host's, %s", unit, place.Process.Comm, outside)
		f.Commands = []string{"systemctl restart " + shell.Quote(unit)}
	default:
		f.What = fmt.Sprintf("start %s in the host's mount namespace, %s", place.Process.Comm, outside)
	}
	return f
}

// otherUser reports that a place is in another user namespace than process 1.
func (n *node) otherUser(p Place) bool { return p.User != 0 && p.User != n.userOfInit() }

// lastDropIn is a name for a drop-in that is read after all others: they are
// sorted by their names, from whatever directory.
func lastDropIn(others []string) string {
	last := ""
	for _, file := range others {
		last = max(last, path.Base(file))
	}
	for _, name := range []string{"90-host-mounts.conf", "zz-host-mounts.conf"} {
		if last <= name {
			return name
		}
	}
	return strings.TrimSuffix(last, ".conf") + "z-host-mounts.conf"
}
