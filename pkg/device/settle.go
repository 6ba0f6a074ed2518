package device

import "fmt"

// Settle tells what is below the loop devices of the chain whose files are on
// file systems with anonymous numbers, where fsType knows the type of that which
// has the number File of the layer, and "" where it does not: one that is on no
// device of this node has nothing below. The others stay unknown.
func (c Chain) Settle(fsType func(Layer) string) {
	for i := range c.Layers {
		l := &c.Layers[i]
		if l.File.IsZero() {
			continue
		}
		if why, none := NoDevice(fsType(*l)); none {
			l.Note, l.Unknown = fmt.Sprintf("%s on %s", l.Note, why), ""
		}
	}
}
