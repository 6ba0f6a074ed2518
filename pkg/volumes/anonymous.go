package volumes

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// anonymous resolves a superblock without a block device number. The error is a
// noDevice where it is known that there is no device of this node below.
func (m *mapper) anonymous(ctx context.Context, sb superblock) (device.Chain, error) {
	switch sb.fsType {
	case "btrfs":
		return m.btrfs(ctx, sb)
	case "erofs":
		return m.erofs(ctx, sb)
	default:
		why, none := sb.label()
		return device.Chain{}, without(why, none)
	}
}

// without is the error about a file system of which no device is told: that
// there is none, or that it cannot be told.
func without(why string, none bool) error {
	if none {
		return noDevice(why)
	}
	return errors.New(why)
}

// label is why there is no device, with the source where it says more.
func (sb superblock) label() (why string, none bool) {
	text, none := device.NoDevice(sb.fsType)
	if s := sb.source; s != "" && s != "none" && s != sb.fsType && !strings.Contains(text, "in memory") {
		text += " (" + printable(s) + ")"
	}
	return text, none
}

func printable(s string) string {
	if q := strconv.Quote(s); q != `"`+s+`"` {
		return q
	}
	return s
}

// ways returns paths of the host that should lead to a superblock: its own
// before those that happen to be on it.
func (m *mapper) ways(sb superblock) []string {
	var all []string
	if sb.path != "" {
		all = append(all, sb.path)
	}
	for _, c := range m.candidates[sb.number] {
		if c.Canonical != sb.path && len(all) < maxTries {
			all = append(all, c.Canonical)
		}
	}
	return all
}

// btrfs asks the file system for its id through a path that leads to it.
func (m *mapper) btrfs(ctx context.Context, sb superblock) (device.Chain, error) {
	ways := m.ways(sb)
	if len(ways) == 0 {
		return device.Chain{}, errors.New("btrfs: no path of the host is known that leads to it")
	}
	var why string
	for _, path := range ways {
		c, err := m.btrfsAt(ctx, sb, path)
		if err == nil {
			return c, nil
		}
		also(&why, because(err))
	}
	return device.Chain{}, errors.New("btrfs: " + why)
}

// btrfsAt asks by ioctl and, without the right to that, by statfs: it tells
// the id folded with that of the subvolume, which the options have.
func (m *mapper) btrfsAt(ctx context.Context, sb superblock, path string) (device.Chain, error) {
	at, err := m.look(ctx, path)
	if err != nil {
		return device.Chain{}, err
	}
	if at.Device != sb.number {
		return device.Chain{}, fmt.Errorf("%s leads to %s now", path, at.Device)
	}
	b, err := m.Host.Btrfs(ctx, path)
	if err == nil {
		if err := m.unmoved(ctx, path, at); err != nil {
			return device.Chain{}, err
		}
		return m.Devices.Btrfs(b.FSID, b.Devices)
	}
	subvolume, ok := subvolumeOf(sb.options)
	if !ok || at.Identity().Root != sb.root {
		return device.Chain{}, err
	}
	stat, serr := m.Host.Statfs(ctx, path)
	if serr == nil {
		serr = m.unmoved(ctx, path, at)
	}
	if serr != nil {
		return device.Chain{}, errors.Join(err, serr)
	}
	return m.Devices.BtrfsByStatfs(stat.FSID, subvolume)
}

// unmoved looks a path up once more: what was asked meanwhile was asked of it.
func (m *mapper) unmoved(ctx context.Context, path string, was facts.HostMount) error {
	is, err := m.Host.Lookup(ctx, path)
	if err != nil {
		return err
	}
	if is.MountID != was.MountID || is.Device != was.Device {
		return fmt.Errorf("%s was mounted over or unmounted while it was asked about", path)
	}
	return nil
}

// subvolumeOf reads the id of a subvolume, which the options of a mount table
// have for each mount.
func subvolumeOf(options string) (uint64, bool) {
	for option := range strings.SplitSeq(options, ",") {
		if value, ok := strings.CutPrefix(option, "subvolid="); ok {
			id, err := strconv.ParseUint(value, 10, 64)
			return id, err == nil
		}
	}
	return 0, false
}

// erofs resolves an image that is mounted from a file without a loop device:
// the file's name is the source. A name can lead to another file by now.
func (m *mapper) erofs(ctx context.Context, sb superblock) (device.Chain, error) {
	if !strings.HasPrefix(sb.source, "/") {
		why, _ := sb.label()
		return device.Chain{}, errors.New(why)
	}
	file, err := m.look(ctx, sb.source)
	if err != nil {
		return device.Chain{}, err
	}
	if sb.path != "" {
		here, err := m.look(ctx, sb.path)
		if err == nil && here.Device == sb.number && newer(file, here) {
			return device.Chain{}, fmt.Errorf("erofs: %s was mounted over since the image in it was mounted", printable(sb.source))
		}
	}
	if file.Device == sb.number || file.FSType == "overlay" || file.FSType == "erofs" {
		return device.Chain{}, fmt.Errorf("erofs: its file %s leads to %s on %s now", printable(sb.source), file.FSType, file.Device)
	}
	return m.chain(ctx, superblockAt(file))
}

// newer reports that a was mounted after b. Only the ids that statmount tells
// grow and are never used again.
func newer(a, b facts.HostMount) bool {
	return a.Rung == hostview.RungStatmount && b.Rung == hostview.RungStatmount && a.MountID > b.MountID
}
