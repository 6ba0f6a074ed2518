package volumes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/mountward/mountward/pkg/facts"
)

// maxVolumeData bounds what is read of a vol_data.json. It has some hundred
// bytes.
const maxVolumeData = 64 << 10

// volumeData is what the kubelet writes down of a CSI volume when it mounts it.
// The file is not written at once and removed on the way down: it can be
// missing, empty or half. Source: kubernetes 1.37 pkg/volume/csi.
type volumeData struct {
	Volume    string `json:"specVolID"`
	Driver    string `json:"driverName"`
	Handle    string `json:"volumeHandle"`
	Lifecycle string `json:"volumeLifecycleMode"`
}

// hint reads the driver and handle of a CSI volume of a pod.
func (m *mapper) hint(ctx context.Context, t *Mount, k facts.KubeletPath) {
	d, err := volumeDataIn(ctx, m.Host, parentOf(k), k.Volume)
	if err != nil {
		t.HintWhy = because(err)
		return
	}
	t.Driver, t.Handle, t.Lifecycle = d.Driver, d.Handle, d.Lifecycle
}

// parentOf is the directory of a pod's CSI volume, in which its target is.
func parentOf(k facts.KubeletPath) string {
	return facts.KubeletPath{
		Root: k.Root, Role: facts.PathVolume, PodUID: k.PodUID, Plugin: k.Plugin, Kind: k.Kind, Volume: k.Volume,
	}.Path()
}

// volumeDataIn reads the file in a directory, which must be about the volume; ""
// takes any.
func volumeDataIn(ctx context.Context, host Files, dir, volume string) (volumeData, error) {
	file := dir + "/vol_data.json"
	text, err := host.ReadFile(ctx, file, maxVolumeData)
	if errors.Is(err, fs.ErrNotExist) {
		return volumeData{}, errors.New("the kubelet has no vol_data.json of it")
	}
	if err != nil {
		return volumeData{}, err
	}
	d, err := parseVolumeData(text)
	if err == nil && d.Volume != "" && volume != "" && d.Volume != volume {
		err = fmt.Errorf("it is about volume %s", printable(d.Volume))
	}
	if err != nil {
		return volumeData{}, fmt.Errorf("read %s: %w", file, err)
	}
	return d, nil
}

// parseVolumeData reads a vol_data.json, whole or not at all.
func parseVolumeData(text []byte) (volumeData, error) {
	if len(text) == 0 {
		return volumeData{}, errors.New("it is empty; perhaps it is just being written")
	}
	var d volumeData
	if err := json.Unmarshal(text, &d); err != nil {
		return volumeData{}, err
	}
	if d.Driver == "" || d.Handle == "" {
		return volumeData{}, errors.New("it has no driverName and volumeHandle")
	}
	return d, nil
}
