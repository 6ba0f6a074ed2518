package pins

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/internal/words"
	"github.com/mountward/mountward/pkg/namespaces"
	"github.com/mountward/mountward/pkg/target"
)

// mounts is what the mount tables have, of all namespaces.
type mounts struct {
	read    int                             // tables
	unread  int                             // that should have been read
	byID    map[int]foundMount              // those of the targets' file systems; an id is of one mount of the node
	peers   map[int]bool                    // peer groups of the host
	layered map[facts.DeviceNumber]overlaid // overlays and file-backed images by their superblock
	seen    map[int]map[int]bool            // by target: the ids that were seen
	masters map[int]int                     // of peer groups, the groups that they receive from
	places  map[facts.DeviceNumber]map[place]hostview.Entry
	ids     map[int]bool                     // of all mounts; nil where no btrfs is wanted
	of      map[facts.DeviceNumber]someMount // one of each superblock that is wanted
	pools   map[facts.DeviceNumber]string    // what was found out of btrfs: its id, "" for none
	// loopTypes are the types of the file systems that files of loop devices are
	// on by their anonymous numbers, "" where no table has the number.
	loopTypes map[facts.DeviceNumber]string
}

// foundMount is a mount of a file system that is wanted.
type foundMount struct {
	entry hostview.Entry
	there bool
	own   bool // a pod's own volume
	slave bool // it follows the host
}

// someMount is a mount in a namespace.
type someMount struct {
	id        int
	namespace uint64
}

func newMounts() mounts {
	return mounts{
		byID: map[int]foundMount{}, peers: map[int]bool{}, layered: map[facts.DeviceNumber]overlaid{},
		seen: map[int]map[int]bool{}, pools: map[facts.DeviceNumber]string{},
		loopTypes: map[facts.DeviceNumber]string{}, masters: map[int]int{},
		of: map[facts.DeviceNumber]someMount{}, places: map[facts.DeviceNumber]map[place]hostview.Entry{},
	}
}

// namespaces reads the mount table of each namespace, the host's first. Where a
// target is mounted nowhere by them, all are read once more: kernels before 5.8
// can drop a line.
func (s *search) namespaces() {
	all := slices.Clone(s.Census.Namespaces)
	if i := slices.IndexFunc(all, s.isHome); i > 0 {
		all[0], all[i] = all[i], all[0]
	}
	s.readAll(all, s.first)
	if len(all) > 0 && s.home == nil {
		s.unknownToAll("the host's mount namespace", fmt.Sprintf("mnt:[%d] is not among those that could be read", s.Home))
	}
	if len(s.mounts.seen) < len(s.reports) {
		s.readAll(all, s.Tables.Table)
	}
	s.gather()
	s.sampleAgain()
	words := words.Count(s.mounts.read, "mount table") + " of " + words.Count(len(all), "mount namespace")
	if s.mounts.unread > 0 {
		words += fmt.Sprintf(", %d not read", s.mounts.unread)
	}
	list := "the links of all processes"
	if s.Census.Rung == namespaces.RungKernel {
		list = "the kernel's list"
	}
	s.searched("%s, by %s", words, list)
}

// isHome reports the host's namespace.
func (s *search) isHome(n *namespaces.Namespace) bool { return n.Inode == s.Home && s.Home != 0 }

// readAll reads the tables, a few at a time: they are looked at in the order of
// the namespaces.
func (s *search) readAll(all []*namespaces.Namespace, table func(context.Context, *namespaces.Namespace) (*hostview.Table, error)) {
	s.mounts.read, s.mounts.unread = 0, 0
	type reading struct {
		table *hostview.Table
		err   error
	}
	for some := range slices.Chunk(all, atOnce) {
		if err := s.ctx.Err(); err != nil {
			s.unknownToAll("mount namespaces", "the time was over: "+err.Error())
			return
		}
		read := make([]reading, len(some))
		var wg sync.WaitGroup
		for i, n := range some {
			wg.Go(func() { read[i].table, read[i].err = table(s.ctx, n) })
		}
		wg.Wait()
		for i, n := range some {
			switch err := read[i].err; {
			case err != nil && vanished(err) && !s.isHome(n):
			case err != nil:
				s.mounts.unread++
				s.unknownOnce(fmt.Sprintf("mount namespace mnt:[%d] (%s)", n.Inode, s.nameOf(n)), err.Error())
			default:
				s.mounts.read++
				s.table(n, read[i].table)
			}
		}
	}
}

// atOnce bounds the tables that are in memory, of which one can be large, and
// the processors that are taken from the node.
const atOnce = 4

// first reads a table for the first time: as the census had it, if it has.
func (s *search) first(ctx context.Context, n *namespaces.Namespace) (*hostview.Table, error) {
	if table, ok := s.Census.Kept(n); ok {
		return table, nil
	}
	return s.Tables.Table(ctx, n)
}

// unknownOnce is unknownToAll for what is read twice.
func (s *search) unknownOnce(what, why string) {
	for i := range s.reports {
		same := func(u namespaces.Unknown) bool { return u.What == what }
		if !slices.ContainsFunc(s.reports[i].Unknown, same) {
			s.unknown(i, what, why)
		}
	}
}

// vanished reports an error about a namespace that has ended.
func vanished(err error) bool { return errors.Is(err, namespaces.ErrGone) || gone(err) }

// nameOf says in a few words whose a namespace is.
func (s *search) nameOf(n *namespaces.Namespace) string {
	for _, pid := range n.PIDs {
		if p, ok := s.byPID[pid]; ok {
			return fmt.Sprintf("%s[%d]", p.Comm, pid)
		}
	}
	return "without a process"
}

// table finds the mounts of targets in one namespace.
func (s *search) table(n *namespaces.Namespace, table *hostview.Table) {
	if s.isHome(n) {
		if s.home == nil {
			s.below(table)
		}
		s.home = table
		for e := range table.All() {
			if e.State.Peer != 0 {
				s.mounts.peers[e.State.Peer] = true
			}
		}
	}
	for e := range table.All() {
		if st := e.State; st.Peer != 0 && st.Master != 0 {
			s.mounts.masters[st.Peer] = st.Master
		}
		if _, asked := s.mounts.loopTypes[e.Device]; asked {
			s.mounts.loopTypes[e.Device] = e.FSType
		}
		if s.mounts.ids != nil {
			s.mounts.ids[e.ID] = true
		}
		s.pool(n, e)
		if _, known := s.mounts.byID[e.ID]; !known && len(s.want.superblocks[e.Device]) > 0 {
			s.mounts.byID[e.ID] = foundMount{entry: e, there: true}
			s.mounts.of[e.Device] = someMount{e.ID, n.Inode}
		}
		for _, t := range s.want.mounted(e) {
			if s.mounts.seen[t] == nil {
				s.mounts.seen[t] = map[int]bool{}
			}
			if !s.mounts.seen[t][e.ID] {
				s.mounts.seen[t][e.ID] = true
				s.see(n, table, t, e)
			}
		}
		s.layer(n, table, e)
	}
}

// pool finds out whether a btrfs whose number is not known is one that is
// wanted: a mount table does not tell which file system it is.
func (s *search) pool(n *namespaces.Namespace, e hostview.Entry) {
	if e.FSType != "btrfs" || len(s.want.pools) == 0 {
		return
	}
	if _, asked := s.mounts.pools[e.Device]; asked {
		return
	}
	if len(s.want.superblocks[e.Device]) > 0 {
		return
	}
	id, err := s.btrfsID(n, e.MountPoint)
	s.mounts.pools[e.Device] = id
	if err != nil {
		for _, parts := range s.want.pools {
			for _, p := range parts {
				s.unknown(p.target, fmt.Sprintf("btrfs %s at %s of mnt:[%d]", e.Device, e.MountPoint, n.Inode), "which file system it is: "+err.Error())
			}
		}
		return
	}
	for _, p := range s.want.pools[id] {
		p.Device = e.Device
		s.want.superblocks[e.Device] = append(s.want.superblocks[e.Device], p)
		s.reports[p.target].Target.Superblocks = replace(s.reports[p.target].Target.Superblocks, id, e.Device)
	}
}

func replace(all []target.Superblock, id string, number facts.DeviceNumber) []target.Superblock {
	all = slices.Clone(all)
	for i := range all {
		if all[i].BtrfsID == id && all[i].Device.IsZero() {
			all[i].Device = number
		}
	}
	return all
}
