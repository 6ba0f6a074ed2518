package volumes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/mountward/mountward/pkg/facts"
)

// maxRaw bounds the block devices that are listed though they are no volume: a
// privileged container has all of the node.
const maxRaw = 16

// raw maps the block devices of the specification. Each that is a volume of the
// pod is listed, and the first of the others.
func (m *mapper) raw(ctx context.Context, t *Task) {
	var blocks []facts.Device
	for _, d := range m.Raw {
		if d.Type == "b" {
			blocks = append(blocks, d)
		}
	}
	if len(blocks) == 0 {
		return
	}
	volumes, err := m.blockVolumes(ctx)
	if err != nil {
		t.RawWhy = because(err)
	}
	var all []Raw
	others, left := 0, 0
	for _, d := range blocks {
		of := volumes[d.Number]
		if len(of) == 0 {
			others++
		}
		listed := len(of) > 0 || others <= maxRaw
		if !listed && !m.Whole {
			left++
			continue
		}
		r := Raw{Path: d.Path}
		m.nameRaw(ctx, &r, of)
		st := m.resolve(ctx, superblock{number: d.Number})
		if listed {
			m.use(st)
		} else {
			m.keep(st)
		}
		r.Backing = st.backing()
		all = append(all, r)
	}
	t.listRaw(all)
	t.RawOmitted += left
}

// listRaw lists the volumes among all block devices and the first of the others.
func (t *Task) listRaw(all []Raw) {
	t.RawAll, t.Raw, t.RawOmitted = all, nil, 0
	others := 0
	for _, r := range all {
		if r.Volume == "" {
			others++
		}
		if r.Volume == "" && others > maxRaw {
			t.RawOmitted++
			continue
		}
		t.Raw = append(t.Raw, r)
	}
}

// raw are all block devices, as far as they are known.
func (t *Task) raw() []Raw {
	if t.RawAll == nil {
		return t.Raw
	}
	return t.RawAll
}

// blockVolumes finds the raw block volumes of the pod: the kubelet keeps a link
// to the device of each.
func (m *mapper) blockVolumes(ctx context.Context) (map[facts.DeviceNumber][]facts.KubeletPath, error) {
	if m.PodUID == "" || m.KubeletRoot == "" {
		return nil, nil
	}
	pod := facts.KubeletPath{Root: m.KubeletRoot, Role: facts.PathPod, PodUID: m.PodUID, Rest: "volumeDevices"}.Path()
	plugins, err := m.Host.ReadDir(ctx, pod, maxEntries)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	all := map[facts.DeviceNumber][]facts.KubeletPath{}
	errs := []error{err}
	for _, plugin := range plugins {
		names, err := m.Host.ReadDir(ctx, pod+"/"+plugin, maxEntries)
		errs = append(errs, err)
		for _, name := range names {
			link := pod + "/" + plugin + "/" + name
			k, ok := facts.ParseKubeletPath(link, m.KubeletRoot)
			if !ok || k.Role != facts.PathDevice {
				continue
			}
			number, err := m.Host.BlockNumber(ctx, link)
			errs = append(errs, err)
			if err == nil {
				all[number] = append(all[number], k)
			}
		}
	}
	return all, errors.Join(errs...)
}

func (m *mapper) nameRaw(ctx context.Context, r *Raw, of []facts.KubeletPath) {
	if len(of) == 0 {
		return
	}
	k := of[0]
	r.Kind, r.Volume = string(k.Kind), k.Volume
	if len(of) > 1 {
		r.Why = fmt.Sprintf("%d volumes of the pod are this device; this is the first", len(of))
	}
	if k.Kind != facts.KindCSI {
		return
	}
	dir := facts.KubeletPath{Root: k.Root, Role: facts.PathDevData, PV: k.Volume}.Path()
	d, err := volumeDataIn(ctx, m.Host, dir, k.Volume)
	if err != nil {
		r.HintWhy = because(err)
		return
	}
	r.Driver, r.Handle = d.Driver, d.Handle
}
