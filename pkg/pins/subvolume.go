package pins

import (
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/internal/linux"
	"github.com/mountward/mountward/pkg/target"
)

// btrfsMagic is the type of a btrfs by statfs(2).
const btrfsMagic = 0x9123683e

// wantsBtrfs reports that a target can be a btrfs.
func (s *search) wantsBtrfs() bool {
	return slices.ContainsFunc(s.reports, func(r Report) bool {
		return slices.ContainsFunc(r.Target.Superblocks, func(sb target.Superblock) bool { return sb.BtrfsID != "" })
	})
}

// subvolume finds the btrfs that a file is of whose mount is in no table, as after
// a lazy unmount: each subvolume has a number of its own, which is not the
// superblock's. statfs tells the file system's id, folded. It waits for the file
// system: it is asked of such files alone, and only for a btrfs.
func (s *search) subvolume(at inspected, name string, st Stat) (all []part) {
	if s.mounts.ids == nil || s.mounts.ids[st.MountID] || st.Device.Major != 0 {
		return nil
	}
	f, err := linux.OpenMagic(at.dir + "/" + name)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := linux.Fstatfs(f)
	if err != nil || info.Type != btrfsMagic {
		return nil
	}
	for _, parts := range s.want.superblocks {
		for _, p := range parts {
			if p.BtrfsID != "" && foldedHigh(p.BtrfsID) == info.FSID[0] {
				all = append(all, p)
			}
		}
	}
	for id, parts := range s.want.pools {
		if foldedHigh(id) == info.FSID[0] {
			all = append(all, parts...)
		}
	}
	return all
}

// foldedHigh is the half of f_fsid that does not depend on the subvolume, as long
// as that has a number of 32 bits. Source: Linux 6.18 fs/btrfs/super.c
// btrfs_statfs; measured.
func foldedHigh(id string) uint32 {
	b, err := hex.DecodeString(strings.ReplaceAll(id, "-", ""))
	if err != nil || len(b) != 16 {
		return 0
	}
	return binary.BigEndian.Uint32(b) ^ binary.BigEndian.Uint32(b[8:])
}
