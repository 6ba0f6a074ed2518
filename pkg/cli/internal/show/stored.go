package show

import (
	"fmt"

	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/facts"
)

// stored hangs what is below a superblock on it: the devices, down to the
// disks. One that is met again is not followed again.
func (s *superblock) stored(top *branch) {
	if len(s.Layers) == 0 {
		return
	}
	on := &branch{text: "stored on"}
	c := chain{layers: map[facts.DeviceNumber]device.Layer{}, shown: map[facts.DeviceNumber]bool{}}
	for _, l := range s.Layers {
		c.layers[l.Number] = l
	}
	tops := s.Layers[:min(s.Tops, len(s.Layers))]
	if first := tops[0]; len(tops) == 1 && (first.Kind == device.LV || !s.onLV()) {
		for _, n := range first.Lower {
			c.hang(on, n)
		}
		if first.Unknown != "" {
			on.add("? " + Line(first.Unknown))
		}
	} else {
		for _, l := range tops {
			c.hang(on, l.Number)
		}
	}
	if s.Unknown != "" {
		on.add("? " + Line(s.Unknown))
	}
	if len(on.sub) > 0 {
		top.sub = append(top.sub, on)
	}
}

type chain struct {
	layers map[facts.DeviceNumber]device.Layer
	shown  map[facts.DeviceNumber]bool
}

func (c chain) hang(on *branch, n facts.DeviceNumber) {
	l, ok := c.layers[n]
	if !ok {
		on.add("? " + n.String())
		return
	}
	at := on.add(layerText(l))
	if c.shown[n] {
		if len(l.Lower) > 0 {
			at.text += "  (as above)"
		}
		return
	}
	c.shown[n] = true
	for _, lower := range l.Lower {
		c.hang(at, lower)
	}
	if l.Unknown != "" {
		at.add("? " + Line(l.Unknown))
	}
}

func layerText(l device.Layer) string {
	name, kind := layer(l)
	text := fmt.Sprintf("%s  %s  %s", name, l.Number, kind)
	if l.Note != "" {
		text += "  (" + Line(l.Note) + ")"
	}
	return text
}
