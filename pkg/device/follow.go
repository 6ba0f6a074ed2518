package device

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/mountward/mountward/pkg/facts"
)

// maxDepth is how many devices deep a chain is followed. A volume of RAID with
// integrity on LUKS on a partition of a multipath disk is nine deep.
const maxDepth = 32

// reader reads one device. Its error matches fs.ErrNotExist where the device
// is not there.
type reader func(facts.DeviceNumber) (Layer, error)

// twice reads a device, and once more if it was not there.
func twice(number facts.DeviceNumber, read reader) (Layer, error) {
	l, err := read(number)
	if errors.Is(err, fs.ErrNotExist) {
		l, err = read(number)
	}
	return l, err
}

// Chain returns what the block device with the number is stored on. An error is
// about the device itself: ErrNotBlock, or that it could not be read. What
// cannot be told of those below is in the chain. A chain in which a device is
// missing is read once more, since devices can be removed between two reads.
func (f FS) Chain(number facts.DeviceNumber) (Chain, error) {
	return single(number, f.layer, f.layer)
}

// single is Chain with the reader to begin with and the one to try again with.
func single(number facts.DeviceNumber, read, again reader) (Chain, error) {
	c, err := follow([]facts.DeviceNumber{number}, read)
	if errors.Is(err, fs.ErrNotExist) {
		c, err = follow([]facts.DeviceNumber{number}, again)
	}
	if err != nil && !c.Layers[0].readable() {
		return Chain{}, fmt.Errorf("resolve device %s: %w", number, err)
	}
	return c, nil
}

// follow goes down from the devices, nearest first, and to each device once,
// so that no cycle can hold it. The chain is always whole; the error joins
// those of the devices that could not be read.
func follow(tops []facts.DeviceNumber, read reader) (Chain, error) {
	type step struct {
		number facts.DeviceNumber
		depth  int
	}
	const usual = 8 // devices: more than most chains have
	var (
		c     = Chain{Tops: len(tops), Layers: make([]Layer, 0, usual)}
		steps = make([]step, 0, usual)
		errs  []error
	)
	enter := func(n facts.DeviceNumber, depth int) {
		if !slices.ContainsFunc(steps, func(s step) bool { return s.number == n }) {
			steps = append(steps, step{n, depth})
		}
	}
	for _, n := range tops {
		enter(n, 1)
	}
	for i := 0; i < len(steps); i++ {
		at := steps[i]
		l, err := read(at.number)
		if err != nil {
			errs = append(errs, err)
			l = Layer{Number: at.number, Unknown: err.Error()}
		}
		if at.depth == maxDepth && len(l.Lower) > 0 {
			l.Unknown = fmt.Sprintf("more than %d devices deep, not followed", maxDepth)
		} else {
			for _, n := range l.Lower {
				enter(n, at.depth+1)
			}
		}
		c.Layers = append(c.Layers, l)
	}
	return c, errors.Join(errs...)
}
