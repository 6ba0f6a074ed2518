package device

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

// Chain is everything a file system or a raw block volume is stored on, from
// its own devices down to the disks.
type Chain struct {
	// Layers names each device once, the nearest first. All volumes that are
	// met are among them, those below another one as well (a logical volume
	// that is a physical volume of another group).
	Layers []Layer `json:"layers"`
	// Tops is how many of the first layers are devices of the file system
	// itself: 1, and more for btrfs on several.
	Tops int `json:"tops"`
	// Unknown says what could not be told of the file system's own devices.
	// Layers have their own.
	Unknown string `json:"unknown,omitempty"`
}

// LV returns the logical volume that is met first on the way down, nil for
// none. With several, LVs has all.
func (c Chain) LV() *LogicalVolume {
	if all := c.LVs(); len(all) > 0 {
		return &all[0]
	}
	return nil
}

// LVs returns the topmost logical volume on every way down: several for btrfs
// on several volumes, for a bcache device, or an array of volumes. A device
// that is not LVM's but lies directly on an LVM pool, such as a snapshot that
// containerd made in one, has the pool for its volume.
func (c Chain) LVs() []LogicalVolume {
	var all []LogicalVolume
	for l := range c.downTo(func(l Layer) bool { return l.Kind == LV || l.pool() }) {
		if l.LV != nil && (l.Kind == LV || l.pool()) && !slices.Contains(all, *l.LV) {
			all = append(all, *l.LV)
		}
	}
	return all
}

// Physical returns the devices that nothing of this node is below of. A device
// below which it could not be told is not one.
func (c Chain) Physical() []Layer {
	var all []Layer
	for _, l := range c.Layers {
		if len(l.Lower) == 0 && l.Unknown == "" {
			all = append(all, l)
		}
	}
	return all
}

// Unknowns returns all that could not be told, each with its reason. There may
// be further volumes and disks behind it.
func (c Chain) Unknowns() []string {
	var all []string
	if c.Unknown != "" {
		all = append(all, c.Unknown)
	}
	for _, l := range c.Layers {
		if l.Unknown != "" {
			name := l.Name
			if name == "" {
				name = l.Number.String()
			}
			all = append(all, name+": "+l.Unknown)
		}
	}
	return all
}

// Answer tells whether this is on a logical volume, with its name or the reason
// there is none. It is yes where one is known whatever else is not.
func (c Chain) Answer() facts.Answer {
	if lvs := c.LVs(); len(lvs) > 0 {
		var names []string
		for _, lv := range lvs {
			names = append(names, lv.String())
		}
		return facts.Is(true, strings.Join(names, " "))
	}
	if why := c.Unknowns(); len(why) > 0 {
		return facts.CannotTell(strings.Join(why, "; "))
	}
	const most = 8
	var names []string
	for _, l := range c.Layers[:min(most, len(c.Layers))] {
		names = append(names, l.describe())
	}
	if more := len(c.Layers) - most; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return facts.Is(false, "no logical volume: "+strings.Join(names, ", "))
}

// describe names a layer with its kind, as "crypt luks-home" or "zram0".
func (l Layer) describe() string {
	s := l.Label()
	if l.Kind != Disk && !strings.HasPrefix(s, string(l.Kind)) {
		s = string(l.Kind) + " " + s
	}
	if l.Note != "" {
		s += " (" + l.Note + ")"
	}
	return s
}

// downTo yields the layers from the tops downward, each once, without those
// that are only reached through a layer that stops.
func (c Chain) downTo(stop func(Layer) bool) func(yield func(Layer) bool) {
	return func(yield func(Layer) bool) {
		open := make([]bool, len(c.Layers))
		for i := range min(c.Tops, len(c.Layers)) {
			open[i] = true
		}
		// An edge can lead back to a layer that is listed before, where the
		// same device is reached by a short and by a long way.
		for more := true; more; {
			more = false
			for i, l := range c.Layers {
				if !open[i] || stop(l) {
					continue
				}
				for _, n := range l.Lower {
					at := slices.IndexFunc(c.Layers, func(l Layer) bool { return l.Number == n })
					if at >= 0 && !open[at] {
						open[at], more = true, true
					}
				}
			}
		}
		for i, l := range c.Layers {
			if open[i] && !yield(l) {
				return
			}
		}
	}
}

func compareNumbers(a, b facts.DeviceNumber) int {
	return cmp.Or(cmp.Compare(a.Major, b.Major), cmp.Compare(a.Minor, b.Minor))
}
