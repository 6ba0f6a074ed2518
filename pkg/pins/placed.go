package pins

import (
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/namespaces"
	"github.com/mountward/mountward/pkg/volumes"
)

// placedLayer is a layer of an overlay, and where it is as far as that is known.
type placedLayer struct {
	layer
	at     facts.Identity // what its path leads to now; zero where it leads nowhere
	proved bool           // that is the layer
	uuid   string         // of the file system that it is on, "" where that is not known
	why    string
}

// Inside is what is asked of a mount namespace that has an overlay;
// *hostview.View is one.
type Inside interface {
	volumes.UpperHost
	Close() error
}

// openInside opens the view of a process's mount namespace.
func openInside(proc string, pid int) (Inside, error) {
	return hostview.Open(hostview.Options{Proc: proc, PID: pid, Wait: patience / 4})
}

// insideTime bounds how long mount namespaces are looked into for their overlays.
const insideTime = 20 * time.Second

// hostInside is the host's own namespace, which stays open.
type hostInside struct{ Host }

func (hostInside) Close() error { return nil }

// inside has the overlays of a namespace looked at there, with nil where it
// cannot be entered. It is open no longer than that.
func (s *search) inside(n *namespaces.Namespace, look func(Inside)) {
	if s.isHome(n) {
		look(hostInside{s.Host})
		return
	}
	if s.entered > insideTime || len(n.PIDs) == 0 {
		look(nil)
		return
	}
	began := time.Now()
	host, err := s.Inside(s.Proc, n.PIDs[0])
	if err != nil {
		look(nil)
		return
	}
	defer host.Close()
	look(host)
	s.entered += time.Since(began)
}

// place finds where the layers of an overlay are. The upper one is proved by the
// overlay's own file handle (Linux 6.6). Nothing proves a lower one; one on the
// file system of an upper one that is proved is where its path leads, as those
// of a runtime's snapshots are.
func (s *search) place(host Inside, o overlaid) (all []placedLayer) {
	var upper volumes.Upper
	proved := false
	if host != nil && o.entry.FSType == "overlay" && len(o.layers) > 0 && o.layers[0].upper {
		at := ""
		if o.covered == "" {
			at = o.entry.MountPoint
		}
		upper = volumes.FindUpper(s.ctx, host, o.entry, at)
		proved = upper.ByHandle && upper.Verified.Truth == facts.Yes
	}
	for _, l := range o.layers {
		p := placedLayer{layer: l, why: "its path leads nowhere now"}
		switch {
		case l.upper && host != nil:
			p.at, p.proved, p.why = upper.At.Identity(), proved, upper.Verified.Why
			if p.uuid = uuidText(upper.UUID); proved {
				p.uuid = ""
			}
		case !path.IsAbs(l.path):
			p.why = "its path is relative"
		default:
			s.lead(host, o, &p)
			if proved && p.at.Device == upper.At.Device {
				p.proved, p.why = true, "its options name a directory of it, beside the upper one"
			}
		}
		all = append(all, p)
	}
	return all
}

// lead finds what the path of a lower layer leads to, as who mounted the overlay
// saw it. That of a container can have the overlay for its root, whose layers
// are the host's.
func (s *search) lead(host Inside, o overlaid, p *placedLayer) {
	if !o.home && p.ok && p.covered.FSType == "overlay" {
		host = hostInside{s.Host}
	}
	if host == nil {
		if below, ok := facts.Below(path.Clean(p.path), p.covered.MountPoint); ok && p.ok {
			p.at = facts.Identity{Device: p.covered.Device, Root: facts.JoinRoot(p.covered.Root, below)}
		}
		p.why = "its mount namespace could not be entered"
		return
	}
	m, err := s.lookup(host, o, p.path)
	if err != nil {
		return
	}
	p.at = m.Identity()
	p.why = fmt.Sprintf("its path leads to %s on %s now, and can have led elsewhere when it was mounted", m.FSType, m.Device)
}

type lookup struct {
	at  facts.HostMount
	err error
}

// lookup asks the host for each path once: overlays share their lower layers.
func (s *search) lookup(host Inside, o overlaid, name string) (facts.HostMount, error) {
	if !o.home {
		return host.Lookup(s.ctx, name)
	}
	a, ok := s.looked[name]
	if !ok {
		a.at, a.err = host.Lookup(s.ctx, name)
		s.looked[name] = a
	}
	return a.at, a.err
}

// holds answers whether a layer is on a target.
func (s *search) holds(target int, p *placedLayer) facts.Truth {
	on := false
	for _, t := range s.want.inside(p.at) {
		on = on || t == target
	}
	switch {
	case p.proved && on:
		return facts.Yes
	case p.proved:
		return facts.No
	case p.uuid != "":
		return s.hasUUID(target, p)
	case p.upper || on || p.at.IsZero():
		return facts.Unknown
	case len(s.mounts.seen[target]) > 0 || !s.whole(target):
		return facts.No // its path leads elsewhere, and the target is still mounted
	default:
		return facts.Unknown
	}
}

// whole reports that all of a file system is meant.
func (s *search) whole(target int) bool {
	for _, sb := range s.reports[target].Target.Superblocks {
		if !sb.Whole() {
			return false
		}
	}
	return true
}

// hasUUID answers whether a target is the file system that an overlay's handle
// names: by the links of udev, and of btrfs by sysfs. A snapshot has the id of
// what it was taken of, and one of the two has the link.
func (s *search) hasUUID(target int, p *placedLayer) facts.Truth {
	number, err := s.Host.BlockNumber(s.ctx, "/dev/disk/by-uuid/"+p.uuid)
	truth := facts.No
	for _, sb := range s.reports[target].Target.Superblocks {
		id := sb.BtrfsID
		if id == "" {
			id = s.udev(sb, "ID_FS_UUID")
		}
		switch {
		case !strings.EqualFold(id, p.uuid) && id != "":
		case sb.Whole() && (sb.BtrfsID != "" || err == nil && sb.Device == number):
			p.why = "the handle of its root names the file system " + p.uuid
			return facts.Yes
		default:
			truth = facts.Unknown
		}
	}
	return truth
}

// uuidText writes a UUID, "" for none.
func uuidText(u [16]byte) string {
	if u == ([16]byte{}) {
		return ""
	}
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}
