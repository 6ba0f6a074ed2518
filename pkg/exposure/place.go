package exposure

import (
	"path"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// deletedSuffix ends the root of a mount whose directory or file was removed.
// No path of a directory entry has two slashes. Source: Linux fs/d_path.c.
const deletedSuffix = "//deleted"

// place is where something is in a mount namespace.
type place struct {
	path    string
	part    string // what is there, below what was wanted; "" for all of it
	deleted bool
}

// placeOf returns where a mount shows a path of its superblock or what is below
// that, false where it does not, or where another mount lies over it. root is
// the mount's root in the superblock: of an overlay, that of a layer.
func placeOf(t *hostview.Table, e hostview.Entry, root, wanted string) (place, bool) {
	point, ok := facts.CleanAbs(e.MountPoint)
	if !ok {
		return place{}, false
	}
	root, deleted := strings.CutSuffix(root, deletedSuffix)
	p := place{path: point, deleted: deleted}
	if part, ok := facts.Below(root, wanted); ok {
		// What was removed is not what has its name now.
		if deleted && part == "" && wanted != "/" {
			return place{}, false
		}
		p.part = part
		return p, leadsTo(t, point, e)
	}
	rest, ok := facts.Below(wanted, root)
	if !ok || deleted {
		return place{}, false
	}
	p.path = path.Join(point, rest)
	return p, leadsTo(t, p.path, e)
}

// leadsTo reports whether a path leads to a mount: no other lies over it, nor
// over a directory above.
func leadsTo(t *hostview.Table, path string, e hostview.Entry) bool {
	covering, ok := t.Covering(path)
	return ok && covering.ID == e.ID
}

// writable answers whether a mount can be written to: by its own flag and that
// of its superblock, whatever the mount above or the specification say.
func writable(e hostview.Entry) facts.Answer {
	super, _, _ := strings.Cut(e.SuperOptions, ",")
	switch {
	case hasOption(e.Options, "ro"):
		return facts.Is(false, "the mount is ro")
	case super == "ro":
		return facts.Is(false, "the file system is ro")
	case super == "rw":
		return facts.Is(true, "mount and file system are rw")
	default:
		return facts.CannotTell("the mount is rw, and the options of its file system are not known")
	}
}

func hasOption(options, option string) bool {
	for o := range strings.SplitSeq(options, ",") {
		if o == option {
			return true
		}
	}
	return false
}
