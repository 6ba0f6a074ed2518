package device

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// BtrfsByStatfs is Btrfs for a file system whose id only statfs(2) told: f_fsid
// is the id folded, and with it the id of the subvolume that was asked about,
// 5 for the top one. That takes no right to open anything. An error says that
// no file system that is mounted now folds to it, or that several do.
//
// Source: Linux 6.18 fs/btrfs/super.c btrfs_statfs, measured.
func (f FS) BtrfsByStatfs(folded [2]uint32, subvolume uint64) (Chain, error) {
	return f.btrfsByStatfs(folded, subvolume, f.layer, f.layer)
}

func (f FS) btrfsByStatfs(folded [2]uint32, subvolume uint64, read, again reader) (Chain, error) {
	fsid, err := f.unfold(folded, subvolume)
	if err != nil {
		return Chain{}, fmt.Errorf("find btrfs by f_fsid %08x:%08x of subvolume %d: %w", folded[0], folded[1], subvolume, err)
	}
	return f.btrfs(fsid, 0, read, again)
}

// unfold finds the only id that folds so among the file systems mounted now.
func (f FS) unfold(folded [2]uint32, subvolume uint64) (string, error) {
	entries, err := os.ReadDir(filepath.Join(f.Sys, "fs", "btrfs"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", errors.New("no btrfs is mounted")
	}
	if err != nil {
		return "", err
	}
	var found []string
	for _, e := range entries { // "features" is no file system
		if isUUID(e.Name()) && fold(e.Name(), subvolume) == folded {
			found = append(found, e.Name())
		}
	}
	switch len(found) {
	case 0:
		return "", errors.New("none that is mounted has it")
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("%s have it", strings.Join(found, " and "))
}

// fold makes f_fsid of an id, which must be one: its two halves on each other,
// read as numbers with the first byte the highest, and the subvolume's id on
// that.
func fold(fsid string, subvolume uint64) [2]uint32 {
	b, _ := hex.DecodeString(strings.ReplaceAll(fsid, "-", "")) // isUUID
	word := func(i int) uint32 { return binary.BigEndian.Uint32(b[i:]) }
	return [2]uint32{
		word(0) ^ word(8) ^ uint32(subvolume>>32),
		word(4) ^ word(12) ^ uint32(subvolume),
	}
}
