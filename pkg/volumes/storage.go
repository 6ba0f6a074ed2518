package volumes

import (
	"context"
	"errors"
	"strings"

	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// superblock is what is known of one before its devices are.
type superblock struct {
	number  facts.DeviceNumber
	fsType  string
	source  string // as it was given at mount time: a label
	options string // "" where they are not known
	root    string // of the mount in it
	path    string // of the host, which should lead to root in it; "" for none
}

func superblockOf(e hostview.Entry, path string) superblock {
	return superblock{e.Device, e.FSType, e.Source, e.SuperOptions, e.Root, path}
}

func superblockAt(m facts.HostMount) superblock {
	return superblock{m.Device, m.FSType, m.Source, "", m.Identity().Root, m.Canonical}
}

// stored is a superblock or raw device that was resolved.
type stored struct {
	Storage
	used  bool
	tries int // how often it was tried to resolve it
}

// maxTries bounds how many paths of the host are tried for a superblock that
// cannot be told by its number.
const maxTries = 3

// backing resolves a superblock and lists it as used.
func (m *mapper) backing(ctx context.Context, sb superblock) Backing {
	s := m.resolve(ctx, sb)
	m.use(s)
	return s.backing()
}

func (m *mapper) use(s *stored) {
	if !s.used {
		s.used = true
		m.storage = append(m.storage, s.Storage)
	}
}

// resolve finds what a superblock is stored on, once for each: another path
// is another chance for one that a path has to lead to.
func (m *mapper) resolve(ctx context.Context, sb superblock) *stored {
	s := m.stored[sb.number]
	if s == nil {
		s = &stored{}
		m.stored[sb.number] = s
	}
	if s.tries == 0 || s.retry(sb) {
		s.tries++
		chain, err := m.chain(ctx, sb)
		s.Storage = storage(sb.number, sb.fsType, chain, err)
	}
	return s
}

func (s *stored) retry(sb superblock) bool {
	return sb.number.Major == 0 && sb.path != "" && !s.used && s.tries < maxTries && s.unknown()
}

// told is a superblock of which there is nothing but a reason.
func (m *mapper) told(number facts.DeviceNumber, fsType string, err error) *stored {
	s := &stored{Storage: storage(number, fsType, device.Chain{}, err), tries: maxTries}
	m.stored[number] = s
	return s
}

func (m *mapper) chain(ctx context.Context, sb superblock) (device.Chain, error) {
	if sb.number.Major == 0 {
		return m.anonymous(ctx, sb)
	}
	chain, err := m.Devices.Chain(sb.number)
	chain.Settle(func(loop device.Layer) string {
		// Only the number proves that the path is that of the file.
		if at, err := m.look(ctx, loop.Note); err == nil && at.Device == loop.File {
			return at.FSType
		}
		return ""
	})
	return chain, err
}

// storage is what a chain, or the error about it, says.
func storage(number facts.DeviceNumber, fsType string, chain device.Chain, err error) Storage {
	s := Storage{Device: number, FSType: fsType, Chain: chain}
	if s.Layers == nil {
		s.Layers = []device.Layer{}
	}
	var none noDevice
	switch {
	case errors.As(err, &none):
		s.NoLV = string(none)
	case err != nil:
		s.NoLV = cannotTell + because(err)
	default:
		switch a := chain.Answer(); a.Truth {
		case facts.Yes:
		case facts.No:
			s.NoLV = a.Why
		default:
			s.NoLV = cannotTell + a.Why
		}
	}
	return s
}

// unknown reports that it cannot be told what it is stored on.
func (s *Storage) unknown() bool { return strings.HasPrefix(s.NoLV, cannotTell) }

// backing is the storage in short.
func (s *Storage) backing() Backing {
	b := Backing{Device: s.Device, NoLV: s.NoLV}
	if s.Tops == 1 {
		b.Name, b.DMName = s.Layers[0].Name, s.Layers[0].DMName
	}
	if s.NoLV != "" {
		return b
	}
	lvs := s.LVs()
	if len(lvs) > 0 {
		b.LV, b.LVUUID = lvs[0].String(), lvs[0].UUID
	}
	if len(lvs) > 1 {
		for _, lv := range lvs {
			b.LVs = append(b.LVs, lv.String())
		}
	}
	return b
}

// StorageAt resolves the superblock that a path of the host leads to, without a
// task. Of an overlay it cannot be told: see Rootfs.
func StorageAt(ctx context.Context, host Host, devices Devices, at facts.HostMount) Storage {
	m := newMapper(Sources{Host: host, Devices: devices})
	return m.resolve(ctx, superblockAt(at)).Storage
}

// StorageOf resolves a block device.
func StorageOf(devices Devices, number facts.DeviceNumber) (Storage, error) {
	chain, err := devices.Chain(number)
	return storage(number, "", chain, err), err
}

// BackingOf resolves one superblock by its number and type alone, without a
// task: one that is on no block device of its own is told by its type.
func BackingOf(devices Devices, number facts.DeviceNumber, fsType string) Backing {
	var chain device.Chain
	var err error
	switch {
	case number.Major != 0:
		chain, err = devices.Chain(number)
	default:
		err = without(device.NoDevice(fsType))
	}
	s := storage(number, fsType, chain, err)
	return s.backing()
}
