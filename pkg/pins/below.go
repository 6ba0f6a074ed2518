package pins

import (
	"fmt"
	"slices"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/internal/words"
	"github.com/mountward/mountward/pkg/target"
)

// maxBelow bounds the mounts below a directory that are asked about with it.
const maxBelow = 1024

// below takes what the host has mounted below a directory that was asked about
// for parts of the target: they are what keeps the directory from being removed.
func (s *search) below(home *hostview.Table) {
	for i := range s.reports {
		t := &s.reports[i].Target
		if t.Kind != target.KindPath || t.Path == "" {
			continue
		}
		all := slices.DeleteFunc(home.Below(t.Path), func(e hostview.Entry) bool { return e.FSType == "nsfs" })
		if len(all) == 0 {
			continue
		}
		if more := len(all) - maxBelow; more > 0 {
			s.unknown(i, fmt.Sprintf("%d more mounts below %s", more, t.Path), fmt.Sprintf("no more than %d are asked about", maxBelow))
			all = all[:maxBelow]
		}
		s.reports[i].Notes = append(s.reports[i].Notes, fmt.Sprintf("%s below %s: asked about as well", words.Count(len(all), "mount")+lies(len(all)), t.Path))
		s.join(i, all)
	}
}

// join adds what mounts show to a target.
func (s *search) join(i int, all []hostview.Entry) {
	t := &s.reports[i].Target
	t.Superblocks = slices.Clone(t.Superblocks)
	known := map[facts.Identity]bool{}
	for _, sb := range t.Superblocks {
		known[facts.Identity{Device: sb.Device, Root: sb.Root}] = true
	}
	var added []target.Superblock
	for _, e := range all {
		at := e.Identity()
		if known[at] {
			continue
		}
		known[at] = true
		sb := target.Superblock{Device: at.Device, Root: at.Root, FSType: e.FSType, Mounted: e.MountPoint, Below: true}
		added = append(added, sb)
		s.want.superblocks[sb.Device] = append(s.want.superblocks[sb.Device], part{i, sb})
	}
	t.Superblocks = append(t.Superblocks, added...)
	if s.stack != nil {
		s.loopsOnFiles(i, target.Target{Superblocks: added})
	}
}

func lies(n int) string {
	if n == 1 {
		return " lies"
	}
	return " lie"
}
