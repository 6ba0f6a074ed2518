package device

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/linux"
)

// directory is the sysfs directory of one device, held open. What is read
// through it is of that very device: once the device is removed the directory
// is empty, even when another has come to its number and its name.
type directory struct {
	*os.File // Name is <sys>/devices/.../sda/sda1
}

// open opens the directory of the device that has the number now. An error of
// it or of the methods that matches fs.ErrNotExist says that the device is not
// there, or not any more.
func (f FS) open(number facts.DeviceNumber) (directory, error) {
	if number.Major == 0 {
		return directory{}, ErrNotBlock
	}
	block := filepath.Join(f.Sys, "dev", "block")
	target, err := os.Readlink(filepath.Join(block, number.String()))
	if err != nil {
		return directory{}, err
	}
	file, err := linux.OpenPath(nil, filepath.Join(block, target), 0)
	return directory{file}, err
}

// close gives the directory back. Nothing was written: nothing can be lost.
func (d directory) close() { _ = d.Close() }

// text reads an attribute; false is a device that has none of this name, which
// a device that was removed seems to be as well: see gone.
func (d directory) text(name string) (string, bool, error) {
	text, err := linux.ReadAttribute(d.File, name)
	switch {
	case err == nil:
		return strings.TrimSuffix(text, "\n"), true, nil
	case errors.Is(err, fs.ErrNotExist):
		return "", false, nil
	}
	return "", false, removed(err)
}

// gone returns an error if the path leads to another directory by now, or to
// none: the device was removed, and may have seemed to lack what it had.
func (d directory) gone() error {
	held, err := d.Stat()
	if err != nil {
		return removed(err)
	}
	now, err := os.Stat(d.Name())
	if err != nil {
		return removed(err)
	}
	if !os.SameFile(held, now) {
		return fmt.Errorf("device %s was replaced while it was read: %w", filepath.Base(d.Name()), fs.ErrNotExist)
	}
	return nil
}

// slaves returns the numbers of the devices this one is directly built of.
func (d directory) slaves() ([]facts.DeviceNumber, error) {
	dir, err := linux.OpenDirectory(d.File, "slaves")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // a partition has none
	}
	if err != nil {
		return nil, removed(err)
	}
	defer dir.Close()
	return devices(dir)
}

// disk returns the number of the disk whose partition this device is: the
// partition's directory is in the disk's.
func (d directory) disk() (facts.DeviceNumber, error) { return numberOf(d.File, "..") }

// devices returns the numbers of the devices that the entries of a directory
// link to, ascending.
func devices(dir *os.File) ([]facts.DeviceNumber, error) {
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, removed(err)
	}
	var all []facts.DeviceNumber
	for _, name := range names {
		n, err := numberOf(dir, name)
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	slices.SortFunc(all, compareNumbers)
	return slices.Compact(all), nil
}

// numberOf reads the number of the device with the name below a directory.
func numberOf(dir *os.File, name string) (facts.DeviceNumber, error) {
	var n facts.DeviceNumber
	text, err := linux.ReadAttribute(dir, name+"/dev")
	if err != nil {
		return n, removed(err)
	}
	err = n.UnmarshalText([]byte(strings.TrimSuffix(text, "\n")))
	return n, err
}

// removed makes the error of reading an open attribute of a removed device one
// that matches fs.ErrNotExist.
func removed(err error) error {
	if errors.Is(err, syscall.ENODEV) {
		return fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	return err
}
