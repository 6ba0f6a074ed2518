package volumes

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// rootOf is where the host has the root of the superblock that a path leads
// to, "" where that is not known: only the handle of an overlay's root is that
// of its upper directory.
func rootOf(here facts.HostMount, path string) string {
	switch {
	case here.Identity().Root == "/":
		return path
	case here.Root == "/":
		return here.MountPoint
	}
	return ""
}

// sameHandle compares the upper directory with what the overlay says of it.
// Where that proves nothing it is not known, and the answer says why.
func (u *Upper) sameHandle(ctx context.Context, host UpperHost, root string) (answer facts.Answer, known bool) {
	if root == "" {
		return facts.CannotTell("the overlay's root is not at a known place of the host"), false
	}
	over, err := host.Handle(ctx, root)
	if err != nil {
		return facts.CannotTell("handle: " + because(err)), !errors.Is(err, hostview.ErrNoHandle)
	}
	is, err := over.Real()
	switch {
	case err != nil:
		return facts.CannotTell(root + ": " + because(err)), true
	case !is.Upper:
		return facts.CannotTell("the overlay's handle is not of an upper directory"), true
	}
	u.UUID = is.UUID
	upper, err := host.Handle(ctx, u.Name)
	if err != nil {
		return facts.CannotTell("handle: " + because(err)), !errors.Is(err, hostview.ErrNoHandle)
	}
	if !upper.Equal(is.Handle) {
		return facts.Is(false, fmt.Sprintf("its file handle is %s, the overlay's upper directory has %s", short(upper), short(is.Handle))), true
	}
	return u.unambiguous(ctx, host, is)
}

// unambiguous answers for equal handles. Most file systems draw the generation
// of an inode by lot; these count, so that two that were made and filled alike
// have the same handles. A btrfs is told by its uuid.
func (u *Upper) unambiguous(ctx context.Context, host UpperHost, is hostview.Real) (answer facts.Answer, known bool) {
	why := "both have the file handle " + short(is.Handle)
	switch u.At.FSType {
	case "zfs", "bcachefs":
		return facts.CannotTell("file handles of two " + u.At.FSType + " can be the same"), false
	case "btrfs":
		b, err := host.Btrfs(ctx, u.Name)
		if err != nil {
			return facts.CannotTell("file handles of two btrfs can be the same: " + because(err)), false
		}
		uuid := hex.EncodeToString(is.UUID[:])
		if uuid != strings.ReplaceAll(b.FSID, "-", "") {
			return facts.Is(false, fmt.Sprintf("it is on the btrfs %s, the overlay's upper directory on %s", b.FSID, uuid)), true
		}
		why += " on the btrfs " + b.FSID
	case "ext2", "ext3", "ext4":
		// What mke2fs copies into a new one has no generation at all.
		stat, err := host.Statfs(ctx, u.Name)
		if err != nil {
			return facts.CannotTell("file handles of two " + u.At.FSType + " can be the same: " + because(err)), false
		}
		if stat.FSID != foldedUUID(is.UUID) {
			return facts.Is(false, fmt.Sprintf("it is on another %s than the overlay's upper directory, which has the uuid %x", u.At.FSType, is.UUID)), true
		}
		why += fmt.Sprintf(" on the %s with the uuid %x", u.At.FSType, is.UUID)
	}
	return facts.Is(true, why), true
}

// foldedUUID is what statfs tells of the uuid of an ext4: its halves XORed.
// Source: Linux 6.18 fs/ext4/super.c ext4_statfs; measured.
func foldedUUID(uuid [16]byte) [2]uint32 {
	half := func(i int) uint32 {
		return binary.LittleEndian.Uint32(uuid[i:]) ^ binary.LittleEndian.Uint32(uuid[8+i:])
	}
	return [2]uint32{half(0), half(4)}
}

// short is a handle as the evidence shows it.
func short(h hostview.Handle) string { return fmt.Sprintf("%x:%x", h.Type, h.Bytes) }
