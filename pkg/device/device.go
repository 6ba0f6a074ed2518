package device

import (
	"errors"
	"fmt"

	"github.com/mountward/mountward/pkg/facts"
)

// FS is a mounted sysfs.
type FS struct {
	Sys string // "/sys"
	// Loop asks the loop device with the kernel's name ("loop3") what is
	// behind it; Loops does so. It has to return within a time. Without it,
	// what is below a loop device cannot be told.
	Loop func(name string) (LoopStatus, error)
}

// Device is what sysfs says of a block device. DMName and DMUUID are empty for
// one that is not of the device mapper.
type Device struct {
	Number facts.DeviceNumber
	Name   string // of the kernel: "dm-3", "sda1"
	DMName string // as the kernel has it, mangled: "vg0-pvc--1"
	DMUUID string
	LV     *LogicalVolume // nil for none
}

// ErrNotBlock is the error about an anonymous device number: a file system
// without a block device of its own. NoDevice tells more.
var ErrNotBlock = errors.New("not a block device")

// Lookup returns the device with the number, and not what is below it. A device
// that is not there is looked for once more, since it can be removed between
// two reads; after that it cannot be told. Device numbers are used again.
func (f FS) Lookup(number facts.DeviceNumber) (Device, error) {
	l, err := twice(number, f.identify)
	if err != nil {
		return Device{}, fmt.Errorf("look up device %s: %w", number, err)
	}
	d := Device{Number: l.Number, Name: l.Name, DMName: l.DMName, DMUUID: l.DMUUID}
	if l.Kind == LV {
		d.LV = l.LV
	}
	return d, nil
}
