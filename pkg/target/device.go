package target

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/facts"
)

// number is a target by MAJ:MIN. It need not exist any more.
func (r *resolver) number(ctx context.Context, number facts.DeviceNumber) (Target, error) {
	if number.IsZero() {
		return Target{}, fmt.Errorf("%w: no device has the number %s", ErrNone, number)
	}
	if number.Major != 0 {
		return r.block(ctx, number.String(), number), nil
	}
	s := Superblock{Device: number, FSType: r.fsType(number)}
	t := Target{Name: number.String(), Kind: KindAnonymous}
	if s.FSType == "btrfs" {
		s.BtrfsID = r.btrfsID(ctx, number)
	}
	if s.FSType == "" {
		t.Notes = []string{"the host has no mount of this superblock; it can be gone, and its number can be another's"}
	}
	t.Superblocks = []Superblock{s}
	return t, nil
}

// block is a target by its block device.
func (r *resolver) block(ctx context.Context, name string, number facts.DeviceNumber) Target {
	t := Target{Name: name, Kind: KindDevice, Block: number}
	if chain, ok := r.stack.Chain(number); ok {
		t.Chain = &chain
	} else {
		t.Notes = []string{fmt.Sprintf("no device of this node has the number %s now", number)}
	}
	t.Blocks = slices.Concat([]facts.DeviceNumber{number}, r.stack.On(number))
	for i, n := range t.Blocks {
		s := r.superblock(n)
		s.Foreign = i > 0
		t.Superblocks = append(t.Superblocks, s)
	}
	slices.SortFunc(t.Blocks, compare)
	more, why := r.onBlocks(ctx, t.Blocks)
	t.Superblocks = append(t.Superblocks, more...)
	t.Why = why
	return t
}

// superblock is the file system that a block device can have.
func (r *resolver) superblock(number facts.DeviceNumber) Superblock {
	s := Superblock{Device: number, FSType: r.fsType(number)}
	if chain, ok := r.stack.Chain(number); ok {
		s.describe(chain)
	}
	return s
}

func (s *Superblock) describe(chain device.Chain) {
	s.Name = chain.Layers[0].Name
	if lv := chain.LV(); lv != nil {
		s.LV = lv.String()
	}
}

// fsType is the type of a superblock by the host's table.
func (r *resolver) fsType(number facts.DeviceNumber) string {
	if r.table == nil {
		return ""
	}
	for _, e := range r.table.ByDevice(number) {
		return e.FSType
	}
	return ""
}

// lv finds a logical volume among the devices of the device mapper. One that has
// no device of its own name now, such as a thin pool in use, is found by a part
// of it.
func (r *resolver) lv(ctx context.Context, name string) (Target, bool) {
	var found facts.DeviceNumber
	for _, n := range r.stack.Devices() {
		top := r.stack.chains[n].Layers[0]
		if top.LV == nil || top.LV.String() != name {
			continue
		}
		if top.Kind == device.LV {
			found = n
			break
		}
		if found.IsZero() {
			found = n
		}
	}
	if found.IsZero() {
		return Target{}, false
	}
	t := r.block(ctx, name, found)
	t.Kind = KindLV
	return t, true
}

// mapped finds the device that a node below /dev would be of, which is not
// there: where no udev makes links, and in a container.
func (r *resolver) mapped(ctx context.Context, name string) (Target, bool) {
	rest, ok := facts.Below(path.Clean(name), "/dev")
	if !ok {
		return Target{}, false
	}
	if t, ok := r.lv(ctx, rest); ok {
		return t, true
	}
	dm, isDM := strings.CutPrefix(rest, "mapper/")
	for _, n := range r.stack.Devices() {
		top := r.stack.chains[n].Layers[0]
		if isDM && top.DMName != "" && top.DMName == dm || !isDM && top.Name == rest {
			return r.block(ctx, name, n), true
		}
	}
	return Target{}, false
}

// LVs returns every logical volume that is active on the node, as targets, in
// the order of their names. Hidden parts of others are none.
func LVs(ctx context.Context, n Node) ([]Target, error) {
	stack, err := ReadStack(n.Sys, n.Devices)
	if err != nil {
		return nil, err
	}
	r := resolver{Node: n, stack: stack}
	r.table, r.tableErr = n.Host.Table(ctx)
	stack.settle(r.table)
	var all []Target
	for _, number := range stack.Devices() {
		if top := stack.chains[number].Layers[0]; top.Kind == device.LV {
			t := r.block(ctx, top.LV.String(), number)
			t.Kind = KindLV
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b Target) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}
