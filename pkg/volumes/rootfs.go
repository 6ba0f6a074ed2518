package volumes

import (
	"context"
	"strings"

	"github.com/mountward/mountward/pkg/hostview"
)

// rootfs reads where the task writes from its own "/" mount. For an overlay
// that is the upper directory, whose device is another than the overlay's.
func (m *mapper) rootfs(ctx context.Context, path string) Rootfs {
	r := Rootfs{Path: path}
	root, ok := m.Container.At("/")
	if !ok {
		r.NoLV = cannotTell + "the container's table has no root"
		return r
	}
	r.FSType, r.ReadOnly = root.FSType, readOnly(root)
	if root.FSType != "overlay" {
		r.Root = root.Root
		r.Backing = m.backing(ctx, superblockOf(root, path))
		return r
	}
	o := m.overlay(ctx, root, path)
	r.Superblock, r.Upper, r.Work, r.Verified, r.Backing = root.Device, o.Upper, o.Work, o.verified, o.Backing
	if o.Device != root.Device {
		r.Root = o.at.Identity().Root
	}
	r.Lower = m.lower(ctx, o.Layers)
	return r
}

// readOnly reports that nothing can be written through the mount.
func readOnly(e hostview.Entry) bool { return has(e.Options, "ro") || has(e.SuperOptions, "ro") }

func has(options, option string) bool {
	for o := range strings.SplitSeq(options, ",") {
		if o == option {
			return true
		}
	}
	return false
}
