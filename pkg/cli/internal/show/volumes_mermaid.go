package show

import (
	"fmt"
	"io"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/words"
	"github.com/mountward/mountward/pkg/volumes"
)

// MaxLinks is how many links Mermaid draws unless it is configured otherwise.
const MaxLinks = 500

// VolumesMermaid prints a flowchart, from the disks on the left to the
// containers on the right, and returns how many links it has.
func VolumesMermaid(w io.Writer, v Volumes) (links int, err error) {
	d := volumesDiagram{newDiagram()}
	for _, s := range superblocks(v) {
		d.superblock(s)
	}
	for _, o := range omitted(v) {
		d.link(d.node("more "+o.task.Bundle+" "+o.text, box(), o.text), d.container(o.task), "")
	}
	for _, m := range v.Marks {
		d.mark(m)
	}
	return len(d.drawn), d.write(w)
}

type volumesDiagram struct{ *diagram }

// superblock draws a file system and all that hangs on it.
func (d volumesDiagram) superblock(s *superblock) {
	from := d.source(s)
	for _, p := range s.places {
		at := d.node(fmt.Sprintf("place %p", p), box(), Word(p.path), Line(p.role), hostState(p.state))
		if p.upper != "" {
			upper := d.node(fmt.Sprintf("upper of %p", p), box(), "upperdir "+Word(p.upper))
			d.link(from, upper, "")
			d.link(upper, at, "")
		} else {
			d.link(from, at, "")
		}
		for _, u := range p.uses {
			inside := d.node(fmt.Sprintf("mount %p", u.mount), box(), Word(u.mount.Destination)+readOnly(u.mount.ReadOnly))
			d.link(at, inside, flow(u.mount))
			d.link(inside, d.container(u.task), "")
		}
	}
	for _, u := range s.uses {
		switch {
		case u.rootfs != nil:
			d.rootfs(from, u)
		case u.raw != nil:
			inside := d.node(fmt.Sprintf("raw %p", u.raw), box(), Word(u.raw.Path), "block device")
			d.link(from, inside, "")
			d.link(inside, d.container(u.task), "")
		case u.placeless():
			inside := d.node(fmt.Sprintf("mount %p", u.mount), box(), Word(u.mount.Destination)+readOnly(u.mount.ReadOnly),
				"source "+Word(u.mount.Source), Line(u.mount.Why))
			at := from
			if u.mount.Upper != "" {
				at = d.node(fmt.Sprintf("upper of %p", u.mount), box(), "upperdir "+Word(u.mount.Upper))
				d.link(from, at, "")
			}
			d.link(at, inside, flow(u.mount))
			d.link(inside, d.container(u.task), "")
		default:
			inside := d.node(fmt.Sprintf("submount %p", u.submount), box(), Word(u.submount.Destination), "below "+Word(u.mount.Destination))
			d.link(from, inside, "seen "+Seen(&u.submount.Seen))
			d.link(inside, d.container(u.task), "")
		}
	}
}

// source draws the devices of a superblock, and itself where no one device
// stands for it.
func (d volumesDiagram) source(s *superblock) string {
	for _, l := range s.Layers {
		name, kind := layer(l)
		d.node(deviceKey(l.Number), cylinder(), name, kind+" "+l.Number.String(), Line(l.Note), unknownText(l.Unknown))
	}
	for _, l := range s.Layers {
		for _, lower := range l.Lower {
			d.link(d.node(deviceKey(lower), cylinder(), lower.String(), "?"), d.node(deviceKey(l.Number), cylinder()), "")
		}
	}
	if len(s.Layers) > 0 && s.Tops == 1 && s.Layers[0].Number == s.Device {
		return d.node(deviceKey(s.Device), cylinder())
	}
	self := d.node(superblockKey(s.Device, s.NoLV), cylinder(), Word(s.label()), numberText(s.Device), Line(s.NoLV), unknownText(s.Unknown))
	for _, l := range s.Layers[:min(s.Tops, len(s.Layers))] {
		d.link(d.node(deviceKey(l.Number), cylinder()), self, "")
	}
	return self
}

// maxLower is how many lower layers are drawn each for itself.
const maxLower = 3

// rootfs draws a merged root filesystem with its layers.
func (d volumesDiagram) rootfs(from string, u use) {
	r, id := u.rootfs, u.task.Bundle
	if r.Path == "" {
		d.link(from, d.container(u.task), "/")
		return
	}
	merged := d.node("rootfs "+id, box(), Word(r.Path), "rootfs, "+Word(r.FSType))
	if r.Upper != "" {
		upper := d.node("upper "+id, box(), "upperdir "+Word(r.Upper), "workdir "+Word(r.Work))
		d.link(from, upper, "")
		from = upper
	}
	d.link(from, merged, "")
	for i, l := range r.Lower {
		var lower string
		if len(r.Lower) <= maxLower {
			lower = d.node(fmt.Sprintf("lower %s %d", id, i), box(), "lowerdir "+Word(l.Path), unknownText(l.Why))
		} else {
			lower = d.node("lowers "+id, box(), words.Count(len(r.Lower), "lowerdir"))
		}
		if on := d.storage(u.task, l.Device); on != "" {
			d.link(on, lower, "")
		}
		d.link(lower, merged, "read-only")
	}
	d.link(merged, d.container(u.task), "/")
}

// storage draws what a lower layer is on, "" where that is not known.
func (d volumesDiagram) storage(t Task, number facts.DeviceNumber) string {
	for _, s := range t.Storage {
		if s.Device == number && !number.IsZero() {
			return d.source(&superblock{Storage: s})
		}
	}
	return ""
}

func (d volumesDiagram) container(t Task) string {
	namespace, pod, container := t.where()
	if t.Container.Pod.Name == "" {
		return d.node("container "+t.Bundle, stadium(), "container "+container)
	}
	return d.node("container "+t.Bundle, stadium(), "container "+container, "pod "+namespace+"/"+pod)
}

func (d volumesDiagram) mark(m volumes.Mark) {
	at := d.node("mark "+m.Code+" "+m.Path, hexagon(), "mark: "+Word(m.Code), Word(m.Path), Line(m.Why))
	for _, known := range []string{deviceKey(m.Device), superblockKey(m.Device, m.NoLV)} {
		if id, ok := d.ids[known]; ok && !m.Device.IsZero() {
			d.link(id, at, "")
			return
		}
	}
}

func deviceKey(n facts.DeviceNumber) string { return "device " + n.String() }

func superblockKey(n facts.DeviceNumber, why string) string {
	if n.IsZero() {
		return "superblock " + why
	}
	return "superblock " + n.String()
}

func numberText(n facts.DeviceNumber) string {
	if n.IsZero() {
		return ""
	}
	return n.String()
}

func unknownText(why string) string {
	if why == "" {
		return ""
	}
	return "cannot tell: " + Line(why)
}
