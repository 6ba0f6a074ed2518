package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/mountward/mountward/pkg/namespaces"
	"github.com/mountward/mountward/pkg/unit"
)

// unitRead is what the files of a process's unit say.
type unitRead struct {
	name    string // "" where it is in none
	options []unit.Option
	dropIns []string
	why     string // what could not be read
}

// unitOf reads the files of the unit that a process is of.
func (n *node) unitOf(p namespaces.Process) unitRead {
	name := p.Owner.Unit
	if name == "" || n.Files == nil {
		return unitRead{name: name}
	}
	if r, ok := n.units[name]; ok {
		return r
	}
	r := unitRead{name: name}
	u, err := unit.Load(n.Context, n.Files, name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.why = err.Error()
	}
	r.options, r.dropIns = u.MountNamespace(), u.DropIns
	n.units[name] = r
	return r
}

// ownNamespace says how the processes of a space come to be in a mount
// namespace of their own.
func (n *node) ownNamespace(sp space) string {
	var all []string
	seen := map[string]bool{}
	for _, place := range sp {
		if place.Role == RoleInit {
			continue
		}
		text := n.whyOwn(place)
		if !seen[text] {
			seen[text] = true
			all = append(all, text)
		}
	}
	return strings.Join(all, "; ")
}

func (n *node) whyOwn(place Place) string {
	if place.User != 0 && place.User != n.userOfInit() && n.userOfInit() != 0 {
		text := fmt.Sprintf("%s is in the user namespace user:[%d], and the kernel makes what is copied into one of those a slave at most", place.Name(), place.User)
		return text + n.origin(place, "; ")
	}
	u := n.unitOf(place.Process)
	switch {
	case strings.HasPrefix(u.name, "snap."):
		return fmt.Sprintf("%s is run by snapd (%s) in the mount namespace of its snap", place.Name(), u.name)
	case len(u.options) > 0:
		var words []string
		for _, o := range u.options {
			may := ""
			if !o.Sure {
				may = ", which can"
			}
			words = append(words, fmt.Sprintf("%s=%s (%s:%d%s)", o.Key, o.Value, o.File, o.Line, may))
		}
		return fmt.Sprintf("%s gives %s a mount namespace of its own by %s", u.name, place.Name(), strings.Join(words, ", "))
	case u.why != "":
		return fmt.Sprintf("cannot tell why %s is in a mount namespace of its own: %s", place.Name(), u.why)
	case u.name != "":
		return fmt.Sprintf("nothing in the files of %s gives %s a mount namespace: what it runs made one (unshare, nsenter), or it was changed since it started", u.name, place.Name())
	}
	if origin := n.origin(place, ""); origin != "" {
		return origin
	}
	return fmt.Sprintf("%s is in a mount namespace of its own, and what made it cannot be seen", place.Name())
}

// origin says what is known of who made the namespace of a place, "" for
// nothing. That an ancestor is outside proves little: it can have started the
// process in a new one, and the process can have left it by itself.
func (n *node) origin(place Place, join string) string {
	p, ok := n.wrapper(place)
	if !ok {
		return ""
	}
	if makesNamespaces(p.Comm) {
		return join + fmt.Sprintf("%s was started by process %d (%s), a program that makes or enters mount namespaces", place.Name(), p.PID, word(p.Comm))
	}
	return join + fmt.Sprintf("cannot tell what made the mount namespace of %s: process %d (%s), which it comes from, is in another; either it was started in one of its own, or it made or entered one by itself",
		place.Name(), p.PID, word(p.Comm))
}

// wrapper returns the nearest ancestor of a process that is in another mount
// namespace, or has the name of a program that makes one.
func (n *node) wrapper(place Place) (namespaces.Process, bool) {
	if n.Census == nil {
		return namespaces.Process{}, false
	}
	const most = 32
	at := place.Process
	for range most {
		parent, ok := n.Census.Process(at.Parent)
		if !ok || parent.PID <= 1 {
			return namespaces.Process{}, false
		}
		ns, ok := n.Census.Of(parent.PID)
		if makesNamespaces(parent.Comm) || ok && place.Inode != 0 && ns.Inode != place.Inode {
			return parent, true
		}
		at = parent
	}
	return namespaces.Process{}, false
}

func makesNamespaces(comm string) bool {
	switch comm {
	case "rootlesskit", "unshare", "bwrap", "nsenter", "kubensenter", "systemd-nspawn":
		return true
	default:
		return false
	}
}

func (n *node) userOfInit() uint64 {
	p, _ := n.Place(RoleInit)
	return p.User
}
