package device

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

// layer reads one device and which are directly below it.
func (f FS) layer(number facts.DeviceNumber) (Layer, error) {
	d, err := f.open(number)
	if err != nil {
		return Layer{}, err
	}
	defer d.close()
	l, err := d.identity(number)
	if err != nil {
		return Layer{}, err
	}
	switch {
	case l.Kind == Loop:
		err = d.behind(&l, f.Loop)
	case l.Kind == Partition && l.DMName == "": // kpartx's have slaves instead
		var disk facts.DeviceNumber
		disk, err = d.disk()
		l.Lower = []facts.DeviceNumber{disk}
	default:
		l.Lower, err = d.slaves()
	}
	if err != nil {
		return Layer{}, err
	}
	return l, d.gone()
}

// identify reads what one device is.
func (f FS) identify(number facts.DeviceNumber) (Layer, error) {
	d, err := f.open(number)
	if err != nil {
		return Layer{}, err
	}
	defer d.close()
	l, err := d.identity(number)
	if err != nil {
		return Layer{}, err
	}
	return l, d.gone()
}

// identity tells what the device is by what its directory holds, never by its
// major number: that of the device mapper differs from boot to boot, and 253:0
// can be a zram device.
func (d directory) identity(number facts.DeviceNumber) (Layer, error) {
	l := Layer{Number: number, Name: filepath.Base(d.Name())}
	name, mapped, err := d.text("dm/name")
	if err != nil {
		return Layer{}, err
	}
	if mapped {
		l.DMName = name
		if l.DMUUID, _, err = d.text("dm/uuid"); err != nil {
			return Layer{}, err
		}
		l.mapped()
		return l, nil
	}
	_, part, err := d.text("partition")
	if err != nil {
		return Layer{}, err
	}
	if part {
		l.Kind = Partition
		return l, nil
	}
	err = d.driver(&l)
	return l, err
}

// driver tells the kind of a whole disk by the name its driver gave it.
func (d directory) driver(l *Layer) error {
	l.Kind = Disk
	switch strings.TrimRight(l.Name, "0123456789") {
	case "loop":
		l.Kind = Loop
	case "bcache":
		l.Kind = Bcache
	case "zram", "ram":
		l.Note = "in memory"
	case "nbd", "rbd", "drbd":
		l.Note = "over the network"
	default:
		level, array, err := d.text("md/level")
		if array {
			l.Kind, l.Note = MD, level
		}
		return err
	}
	return nil
}

// mapped tells the kind of a device-mapper device by the prefix of its uuid:
// the name can be anything.
func (l *Layer) mapped() {
	l.Kind = DM
	kind, rest, _ := strings.Cut(l.DMUUID, "-")
	switch {
	case kind == "LVM":
		l.volume()
	case kind == "CRYPT":
		format, _, _ := strings.Cut(rest, "-")
		if format != "VERITY" && format != "INTEGRITY" {
			l.Kind = Crypt
		}
		l.Note = strings.ToLower(format)
	case kind == "mpath":
		l.Kind = Multipath
	case strings.HasPrefix(kind, "part") && rest != "":
		l.Kind, l.Note = Partition, "made by kpartx"
	}
}

// volume tells which logical volume, or which part of one, an LVM device is.
func (l *Layer) volume() {
	lv, part := logicalVolume(l.DMName, l.DMUUID)
	switch {
	case lv == nil:
		l.Unknown = fmt.Sprintf("device-mapper name %q and uuid %q are not as LVM makes them", l.DMName, l.DMUUID)
		return
	case part == "":
		l.Kind = LV
	default:
		l.Kind, l.Part = LVLayer, part
	}
	if part == "pvmove" {
		l.Note = "pvmove is moving the data to other disks"
	}
	l.LV = lv
}
