package discover

import (
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// Origin returns the path by which the directory that a mount shows was there
// before it was mounted, and the mount that it lies on: of a bind mount the real
// directory, of one that is bound onto itself its own mount point. It is false
// of the whole of a file system, and where no mount of the table shows the
// directory.
func Origin(t *hostview.Table, e hostview.Entry) (path string, on hostview.Entry, ok bool) {
	for _, m := range t.ByDevice(e.Device) {
		rest, below := facts.Below(e.Root, m.Root)
		// What shows more of the file system was there before. Where several
		// do, the one that shows most is where people look for the directory.
		if below && rest != "" && (!ok || len(m.Root) < len(on.Root)) {
			path, on, ok = facts.JoinRoot(m.MountPoint, rest), m, true
		}
	}
	return path, on, ok
}
