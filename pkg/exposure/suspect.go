package exposure

import (
	"fmt"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/namespaces"
)

// suspect is an overlay of which it cannot be told whether it has a layer on a
// target.
type suspect struct {
	overlayOf
	mountPoint string
	doubt      doubt
}

// overlayOf is an overlay and a target.
type overlayOf struct {
	target string
	device facts.DeviceNumber // of the overlay
}

func (s *sight) suspect(want *wanted, e hostview.Entry, why doubt) {
	of := overlayOf{want.name, e.Device}
	for i := range s.found {
		if o := &s.found[i]; o.overlayOf == of {
			if e.MountPoint == "/" { // it is the root of a container, rather than seen by another
				o.mountPoint = "/"
			}
			return
		}
	}
	s.found = append(s.found, suspect{of, e.MountPoint, why})
}

// maxSuspects bounds the overlays that are named of one target for their upper
// directories. Of those with lower layers only, which any overlay has and
// nothing can be written to, one stands for all.
const maxSuspects = 16

// suspects tells of each overlay that is not known to have a layer on a target:
// once, where it is a container's root, else where it was seen first.
func (f *finder) suspects(all []*sight) (unknown []namespaces.Unknown) {
	type class struct {
		target string
		lower  bool
	}
	told, count := map[overlayOf]bool{}, map[class]int{}
	for _, root := range []bool{true, false} {
		for _, s := range all {
			for _, o := range s.found {
				if told[o.overlayOf] || f.onTarget[o.overlayOf] || root && o.mountPoint != "/" {
					continue
				}
				told[o.overlayOf] = true
				c := class{o.target, o.doubt.lower}
				if count[c]++; count[c] <= most(c.lower) {
					who := s.whos[0]
					unknown = append(unknown, namespaces.Unknown{
						What: fmt.Sprintf("whether %s is reached by the overlay at %s of %s (mnt:[%d])", o.target, o.mountPoint, who.name(), who.MountNamespace),
						Why:  o.doubt.why,
					})
				}
			}
		}
	}
	for i := range f.wanted {
		for _, lower := range []bool{false, true} {
			c := class{f.wanted[i].name, lower}
			if more := count[c] - most(lower); more > 0 {
				unknown = append(unknown, namespaces.Unknown{
					What: fmt.Sprintf("whether %s is reached by %d more overlays", c.target, more), Why: "on which file systems their layers are cannot be told",
				})
			}
			delete(count, c) // what is mounted below a target has its name
		}
	}
	return unknown
}

func most(lower bool) int {
	if lower {
		return 1
	}
	return maxSuspects
}
