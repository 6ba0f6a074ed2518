package target

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

// pools are the btrfs file systems of the host by their anonymous numbers, as
// far as they were asked: a mount table does not tell which is on which device.
type pools struct {
	asked bool
	ids   map[facts.DeviceNumber]string
	why   string
}

// onBlocks returns the btrfs file systems that have one of these devices. One
// that is mounted nowhere on the host has no number that is known here: Device
// is zero and BtrfsID tells it.
func (r *resolver) onBlocks(ctx context.Context, blocks []facts.DeviceNumber) (found []Superblock, why string) {
	ids, err := btrfsOn(r.Sys, blocks)
	if err != nil {
		return nil, err.Error()
	}
	for _, id := range ids {
		s := Superblock{FSType: "btrfs", BtrfsID: id}
		r.askPools(ctx)
		for number, of := range r.pools.ids {
			if of == id {
				s.Device = number
			}
		}
		if s.Device.IsZero() {
			why = r.pools.why
		}
		found = append(found, s)
	}
	return found, why
}

// btrfsOn returns the ids of the btrfs file systems that sysfs lists one of
// these devices of.
func btrfsOn(sys string, blocks []facts.DeviceNumber) ([]string, error) {
	list, err := filepath.Glob(filepath.Join(sys, "fs", "btrfs", "*-*", "devices", "*", "dev"))
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, file := range list {
		text, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read devices of btrfs: %w", err)
		}
		var number facts.DeviceNumber
		if number.UnmarshalText([]byte(strings.TrimSpace(string(text)))) == nil && slices.Contains(blocks, number) {
			ids = append(ids, filepath.Base(filepath.Dir(filepath.Dir(filepath.Dir(file)))))
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// askPools asks each btrfs that the host has mounted for its id, once.
func (r *resolver) askPools(ctx context.Context) {
	if r.pools.asked {
		return
	}
	r.pools = pools{asked: true, ids: map[facts.DeviceNumber]string{}}
	if r.table == nil {
		r.pools.why = r.tableErr.Error()
		return
	}
	whys := map[facts.DeviceNumber]string{}
	for e := range r.table.All() {
		if e.FSType != "btrfs" || r.pools.ids[e.Device] != "" {
			continue
		}
		if at, ok := r.table.Covering(e.MountPoint); !ok || at.ID != e.ID {
			continue // hidden: its path leads elsewhere
		}
		b, err := r.Host.Btrfs(ctx, e.MountPoint)
		if err != nil {
			whys[e.Device] = err.Error()
			continue
		}
		r.pools.ids[e.Device] = b.FSID
		delete(whys, e.Device)
	}
	for number, why := range whys {
		r.pools.why = fmt.Sprintf("which btrfs %s is: %s", number, why)
	}
}

// btrfsID is the id of a mounted btrfs, "" where it is not known.
func (r *resolver) btrfsID(ctx context.Context, number facts.DeviceNumber) string {
	r.askPools(ctx)
	return r.pools.ids[number]
}
