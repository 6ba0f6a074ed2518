package exposure

import (
	"context"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/volumes"
)

// Overlays finds the upper directory of an overlay, see [volumes.FindUpper],
// that is mounted at path: of the node, or where pid is not 0 of the mount
// namespace that this process is in. It waits for nothing long.
type Overlays func(ctx context.Context, e hostview.Entry, path string, pid int) volumes.Upper

// upperOf asks for the upper directory of an overlay where the node has it
// mounted, else where the namespace has.
func (f *finder) upperOf(ctx context.Context, s *sight, e hostview.Entry) volumes.Upper {
	none := volumes.Upper{Name: "directory", Verified: facts.CannotTell("it was not asked for")}
	if f.Upper == nil {
		return none
	}
	if at, ok := f.onNode(e.Device); ok {
		return f.Upper(ctx, e, at, 0)
	}
	for i := range s.whos {
		for _, p := range s.whos[i].members {
			return f.Upper(ctx, e, e.MountPoint, id(p))
		}
	}
	none.Verified.Why = "nobody is in the namespace"
	return none
}

// onNode is where the node has the root of a superblock mounted.
func (f *finder) onNode(device facts.DeviceNumber) (string, bool) {
	if f.host == nil {
		return "", false
	}
	for _, e := range f.host.ByDevice(device) {
		if e.Root == "/" && leadsTo(f.host, e.MountPoint, e) {
			return e.MountPoint, true
		}
	}
	return "", false
}

// placesOf is where the node has what is sought.
func (f *finder) placesOf(what sought) (places []string) {
	for i := range f.wanted {
		for _, w := range f.wanted[i].what {
			if w == what {
				places = append(places, f.wanted[i].places...)
			}
		}
	}
	return places
}
