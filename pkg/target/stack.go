package target

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// maxDevices bounds the block devices that are looked at. A node has some
// thousand.
const maxDevices = 1 << 16

// Stack is which block devices of a node are built on which, at one time.
type Stack struct {
	chains map[facts.DeviceNumber]device.Chain
	above  map[facts.DeviceNumber][]facts.DeviceNumber // anywhere above, ascending
	// Loops are the loop devices over files of file systems with anonymous
	// numbers: what those are on is known by who knows the file systems.
	Loops []device.Layer
	// Unknown is what else could not be read, or not be followed.
	Unknown []string
}

// ReadStack reads all block devices below a mounted sysfs. One that is just
// being removed is left out.
func ReadStack(sys string, devices Devices) (*Stack, error) {
	s := &Stack{chains: map[facts.DeviceNumber]device.Chain{}, above: map[facts.DeviceNumber][]facts.DeviceNumber{}}
	dir := filepath.Join(sys, "dev", "block")
	list, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list block devices: %w", err)
	}
	if len(list) > maxDevices {
		return nil, fmt.Errorf("list block devices: more than %d in %s", maxDevices, dir)
	}
	for _, entry := range list {
		var number facts.DeviceNumber
		if number.UnmarshalText([]byte(entry.Name())) != nil {
			continue // no device
		}
		chain, err := devices.Chain(number)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			s.Unknown = append(s.Unknown, fmt.Sprintf("device %s: %v", number, err))
			continue
		}
		if top := chain.Layers[0]; top.Kind == device.Loop && len(top.Lower) == 0 && unbound(filepath.Join(dir, entry.Name())) {
			chain.Layers[0].Unknown = ""
		}
		s.add(number, chain)
	}
	for n := range s.above {
		slices.SortFunc(s.above[n], compare)
	}
	return s, nil
}

// unbound reports a loop device that is bound to nothing: sysfs has a directory
// of the binding otherwise.
func unbound(device string) bool {
	_, err := os.Stat(filepath.Join(device, "loop"))
	return errors.Is(err, fs.ErrNotExist)
}

func (s *Stack) add(number facts.DeviceNumber, chain device.Chain) {
	s.chains[number] = chain
	for _, layer := range chain.Layers[1:] {
		s.above[layer.Number] = append(s.above[layer.Number], number)
	}
	switch top := chain.Layers[0]; { // each of those below is a device of its own
	case !top.File.IsZero():
		s.Loops = append(s.Loops, top)
	case top.Unknown != "":
		s.Unknown = append(s.Unknown, fmt.Sprintf("device %s: %s", top.Label(), top.Unknown))
	}
}

// settle tells what is below loop devices by the host's mount table.
func (s *Stack) settle(table *hostview.Table) {
	if table == nil {
		return
	}
	for _, c := range s.chains {
		c.Settle(func(l device.Layer) string {
			for _, e := range table.ByDevice(l.File) {
				return e.FSType
			}
			return ""
		})
	}
}

// Chain returns what a device is stored on.
func (s *Stack) Chain(number facts.DeviceNumber) (device.Chain, bool) {
	c, ok := s.chains[number]
	return c, ok
}

// On returns the devices that are built on one, at any height, ascending.
func (s *Stack) On(number facts.DeviceNumber) []facts.DeviceNumber { return s.above[number] }

// Directly returns the devices that are built on one without another between.
func (s *Stack) Directly(number facts.DeviceNumber) []device.Layer {
	var all []device.Layer
	for _, n := range s.above[number] {
		if top := s.chains[n].Layers[0]; slices.Contains(top.Lower, number) {
			all = append(all, top)
		}
	}
	return all
}

// Devices returns all devices, ascending.
func (s *Stack) Devices() []facts.DeviceNumber {
	var all []facts.DeviceNumber
	for n := range s.chains {
		all = append(all, n)
	}
	slices.SortFunc(all, compare)
	return all
}

func compare(a, b facts.DeviceNumber) int {
	return cmp.Or(cmp.Compare(a.Major, b.Major), cmp.Compare(a.Minor, b.Minor))
}
