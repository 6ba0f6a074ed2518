package pins

import (
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// place is a directory as a peer group has it: what is mounted or unmounted there
// is so at the same directory of all peers and slaves of the group.
type place struct {
	group int
	at    facts.Identity
}

// maxMasters bounds the peer groups that are gone up.
const maxMasters = 64

// follows finds the mount of the host whose unmount takes a copy along. That is
// not told by the copy's own propagation: the kernel passes an unmount on, as it
// does a mount, from the mount that is mounted on to the peers and slaves of
// that. Source: Linux 6.18 fs/pnode.c propagate_umount; measured. peer
// says that it is so both ways.
func (s *search) follows(x *sighting) (host hostview.Entry, peer, ok bool) {
	if s.isHome(x.namespace) || x.on.at.IsZero() || x.loaded {
		return host, false, false // what has something mounted in it stays
	}
	places := s.hostPlaces(x.entry.Device)
	group, master := x.on.group, x.master
	for range maxMasters {
		if e, ok := places[place{group, x.on.at}]; ok && group != 0 {
			return e, group == x.on.group, true
		}
		if master == 0 {
			break
		}
		group, master = master, s.mounts.masters[master]
	}
	return host, false, false
}

// hostPlaces is where the host has a superblock mounted.
func (s *search) hostPlaces(device facts.DeviceNumber) map[place]hostview.Entry {
	if all, ok := s.mounts.places[device]; ok {
		return all
	}
	all := map[place]hostview.Entry{}
	if s.home != nil {
		for _, e := range s.home.ByDevice(device) {
			parent, ok := s.home.ByID(e.Parent)
			if !ok || parent.State.Peer == 0 {
				continue
			}
			if at, ok := directory(parent, e); ok {
				all[place{parent.State.Peer, at}] = e
			}
		}
	}
	s.mounts.places[device] = all
	return all
}
