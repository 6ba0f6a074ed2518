package device

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

// FS is a mounted sysfs.
type FS struct {
	Sys string // "/sys"
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

var errReused = errors.New("the number was given to another device while it was read")

// Lookup returns the device with the number. A device that is not there is
// looked for once more, since it can be removed between two reads; after that
// it cannot be told. Device numbers are used again.
func (f FS) Lookup(number facts.DeviceNumber) (Device, error) {
	if number.Major == 0 {
		return Device{}, fmt.Errorf("look up device %s: %w", number, ErrNotBlock)
	}
	d, err := f.lookup(number)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errReused) {
		d, err = f.lookup(number)
	}
	if err != nil {
		return Device{}, fmt.Errorf("look up device %s: %w", number, err)
	}
	return d, nil
}

func (f FS) lookup(number facts.DeviceNumber) (Device, error) {
	link := filepath.Join(f.Sys, "dev", "block", number.String())
	target, err := os.Readlink(link)
	if err != nil {
		return Device{}, err
	}
	d := Device{Number: number, Name: filepath.Base(target)}
	if d.DMName, err = attribute(link, "dm/name"); err != nil || d.DMName == "" {
		return d, err
	}
	if d.DMUUID, err = attribute(link, "dm/uuid"); err != nil {
		return Device{}, err
	}
	// A number given to another device meanwhile would mix the two.
	if again, err := os.Readlink(link); err != nil || again != target {
		return Device{}, errors.Join(err, errReused)
	}
	d.LV = logicalVolume(d.DMName, d.DMUUID)
	return d, nil
}

// attribute reads a file of a device, "" where the device has no such file.
func attribute(device, name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(device, name))
	if errors.Is(err, fs.ErrNotExist) {
		// The device itself may be gone: then its directory is as well.
		if _, err := os.Stat(device); err != nil {
			return "", err
		}
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(string(text), "\n"), nil
}
