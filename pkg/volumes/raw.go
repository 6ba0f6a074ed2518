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

// raw maps the block devices of the specification: each that is a volume of
// the pod, and the others if they are few.
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
	others := 0
	for _, d := range blocks {
		if len(volumes[d.Number]) == 0 {
			others++
		}
	}
	if others > maxRaw {
		t.RawOmitted = others
	}
	for _, d := range blocks {
		of := volumes[d.Number]
		if len(of) == 0 && others > maxRaw {
			continue
		}
		r := Raw{Path: d.Path}
		m.nameRaw(ctx, &r, of)
		r.Backing = m.backing(ctx, superblock{number: d.Number})
		t.Raw = append(t.Raw, r)
	}
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
	d, err := m.volumeData(ctx, dir, k.Volume)
	if err != nil {
		r.HintWhy = because(err)
		return
	}
	r.Driver, r.Handle = d.Driver, d.Handle
}
