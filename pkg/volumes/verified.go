package volumes

import (
	"context"
	"fmt"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// verify answers whether what the name of the upper directory leads to now is
// the overlay's upper directory. The kernel tells it by file handles from Linux
// 6.6 on. Before that there is only a comparison of sizes, which volumes that
// are equally large pass: it counts only where the name leads there without a
// symbolic link, which can be made to lead elsewhere. Where the kernel tells the
// ages of mounts (6.8), that of the upper directory must be older than the
// overlay. What is left is a copy of a whole file system, block by block, such as
// a snapshot that was mounted before: it has the same handles and sizes.
func (u *Upper) verify(ctx context.Context, host UpperHost, device facts.DeviceNumber, path string) facts.Answer {
	if path == "" {
		return facts.CannotTell("where the overlay is on the host is not known")
	}
	here, err := host.Lookup(ctx, path)
	switch {
	case err != nil:
		return facts.CannotTell(because(err))
	case here.Device != device:
		return facts.CannotTell(fmt.Sprintf("%s leads to %s on %s now, the overlay is %s", path, here.FSType, here.Device, device))
	case !local(u.At.FSType):
		return facts.CannotTell(fmt.Sprintf("%s leads to %s on %s now, which is not asked: it may not answer", printable(u.Name), u.At.FSType, u.At.Device))
	case newer(u.At, here):
		return facts.CannotTell(fmt.Sprintf("%s was mounted over or mounted anew since the overlay was mounted", printable(u.Name)))
	}
	answer, known := u.sameHandle(ctx, host, rootOf(here, path))
	if u.ByHandle = known; known {
		return answer
	}
	if !straight(u.Name, u.At) {
		return facts.CannotTell(fmt.Sprintf("%s leads to %s by a symbolic link, which may have led elsewhere, and %s", printable(u.Name), printable(u.At.Canonical), answer.Why))
	}
	return equalSizes(ctx, host, u.Name, path)
}

// local reports the file systems of this node that an upper directory can be on
// and that always answer.
func local(fsType string) bool {
	switch fsType {
	case "ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "tmpfs", "zfs", "bcachefs":
		return true
	}
	return false
}

// straight reports that a name is of where it leads to, without a symbolic link
// on the way.
func straight(name string, at facts.HostMount) bool {
	clean, ok := facts.CleanAbs(name)
	return ok && clean == at.Canonical && !strings.Contains(name+"/", "/../")
}

// equalSizes compares statfs of the upper directory and of the overlay. Their
// sizes can change in between: xfs counts the inodes that its free space could
// hold, zfs the space that its pool has left, and any can be grown. Only a
// difference to an upper directory that stays the same is one, and only if it
// is still there the second time.
func equalSizes(ctx context.Context, host UpperHost, upper, overlay string) facts.Answer {
	var err error
	read := func(path string) (s hostview.Statfs) {
		if err == nil {
			s, err = host.Statfs(ctx, path)
		}
		return s
	}
	const tries = 2
	var answer facts.Answer
	for range tries {
		before, over := read(upper), read(overlay)
		if sameSize(before, over) {
			return facts.Is(true, "statfs tells "+sizeOf(over)+" of both")
		}
		after := read(upper)
		differ := fmt.Sprintf("statfs tells %s of it and %s of the overlay", sizeOf(after), sizeOf(over))
		switch {
		case err != nil:
			return facts.CannotTell("statfs: " + because(err))
		case sameSize(after, over):
			return facts.Is(true, "statfs tells "+sizeOf(over)+" of both")
		case over.Blocks == 0:
			answer = facts.CannotTell("statfs tells no size of the overlay")
		case !sameSize(before, after):
			answer = facts.CannotTell(differ + ", and it changes meanwhile")
		default:
			answer = facts.Is(false, differ)
		}
	}
	return answer
}

// sameSize is never true of a file system that tells no size.
func sameSize(a, b hostview.Statfs) bool {
	return a.Blocks != 0 && a.BlockSize == b.BlockSize && a.Blocks == b.Blocks && a.Files == b.Files
}

func sizeOf(s hostview.Statfs) string {
	return fmt.Sprintf("%d blocks of %d bytes and %d files", s.Blocks, s.BlockSize, s.Files)
}
