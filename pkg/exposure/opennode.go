package exposure

import (
	"context"
	"fmt"

	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/namespaces"
)

// ofNode reports a directory in a mount of the node that somebody elsewhere has
// open: what is mounted there is crossed, and ".." leads to the root of the node,
// since the root of the process is not on the way. Ids of mounts are those of one
// namespace only.
func (f *finder) ofNode(s *sight, st Stat) bool {
	if !st.Directory || f.host == nil || len(s.whos) > 0 && f.isHost(s.whos[0].MountNamespace) {
		return false
	}
	_, ok := f.host.ByID(st.MountID)
	return ok
}

// byNode is a target that is reached from an open directory of the node, where
// the node has it.
func (f *finder) byNode(p namespaces.Process, want *wanted, w Who, file openFile) Path {
	e, _ := f.host.ByID(file.MountID)
	entry := file.entry(p, want, w, fmt.Sprintf("%s -> %s (mount %d, which is the node's: %s is reached from it)", file.link, file.text, file.MountID, want.places[0]))
	entry.Part, entry.HostPath = want.below, want.places[0]
	entry.Evidence = append(entry.Evidence, Evidence{Text: e.Line(), Show: fmt.Sprintf("grep '^%d ' /proc/self/mountinfo", e.ID)})
	if at, ok := f.host.Covering(want.places[0]); ok {
		entry.Writable = writable(at)
	}
	return entry
}

// visible reports that an open file is on the mount that its path leads to in
// the namespace of its process, whose table is read once more for that.
func (s *sight) visible(ctx context.Context, f *finder, file openFile) bool {
	if !s.reread {
		s.reread = true
		s.again, _ = f.Census.Table(ctx, s.namespace) // without one nothing is visible
	}
	if s.again == nil {
		return false
	}
	e, ok := s.again.Covering(file.name())
	return ok && e.ID == file.MountID
}

// sight is what was seen of one mount namespace.
type sight struct {
	namespace *namespaces.Namespace
	whos      []Who
	paths     []paths // one a Who
	found     []suspect

	reread bool
	again  *hostview.Table // for what is open, where that takes it
}
