package volumes

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
)

const devices = pod + "/volumeDevices"

func rawTask(t *testing.T, h *fakeHost, s Sources) Task {
	t.Helper()
	s.Container, s.Host, s.Devices = tableOf(t, "100 1 8:1 / / rw - ext4 x rw"), h, node()
	return Map(t.Context(), s, 1, "")
}

func rawHost() *fakeHost {
	h := onHost(nil)
	h.dirs = map[string][]string{
		devices:                                 {"kubernetes.io~csi", "kubernetes.io~local-volume"},
		devices + "/kubernetes.io~csi":          {"pvc-1"},
		devices + "/kubernetes.io~local-volume": {"disk"},
	}
	h.blocks = map[string]facts.DeviceNumber{
		devices + "/kubernetes.io~csi/pvc-1":         number(253, 2),
		devices + "/kubernetes.io~local-volume/disk": number(8, 16),
	}
	h.files = map[string]string{kubelet + "/plugins/kubernetes.io/csi/volumeDevices/pvc-1/data/vol_data.json": volumeDataOf1}
	return h
}

func block(path string, n facts.DeviceNumber) facts.Device {
	return facts.Device{Path: path, Type: "b", Number: n}
}

func TestRawBlockVolumes(t *testing.T) {
	task := rawTask(t, rawHost(), Sources{KubeletRoot: kubelet, PodUID: podUID, Raw: []facts.Device{
		{Path: "/dev/null", Type: "c", Number: number(1, 3)}, block("/dev/xvda", number(253, 2)), block("/dev/disk", number(8, 16)), block("/dev/other", number(8, 1)),
	}})
	want := []Raw{
		{Path: "/dev/xvda", Kind: "csi", Volume: "pvc-1", Driver: "lvm.example.com", Handle: "handle-1", Backing: backing1()},
		{Path: "/dev/disk", Kind: "local-volume", Volume: "disk", Backing: Backing{Device: number(8, 16), Name: "sdb", NoLV: "no logical volume: sdb"}},
		{Path: "/dev/other", Backing: backingOfRoot()},
	}
	if diff := cmp.Diff(want, task.Raw); diff != "" {
		t.Errorf("raw (-want +got):\n%s", diff)
	}
	if len(task.Storage) != 3 || task.RawOmitted != 0 || task.RawWhy != "" {
		t.Errorf("%d storages, %d omitted, why %q", len(task.Storage), task.RawOmitted, task.RawWhy)
	}
}

// TestManyRawDevices: a privileged container has all of the node. Its volumes
// are listed, the first of the others, and how many more there are; any is found.
func TestManyRawDevices(t *testing.T) {
	all := []facts.Device{block("/dev/xvda", number(253, 2))}
	for i := range maxRaw + 1 {
		all = append(all, block(fmt.Sprint("/dev/loop", i), number(7, uint32(i))))
	}
	task := rawTask(t, rawHost(), Sources{KubeletRoot: kubelet, PodUID: podUID, Raw: all})
	if len(task.Raw) != maxRaw+1 || task.Raw[0].Volume != "pvc-1" || task.Raw[maxRaw].Path != "/dev/loop15" || task.RawOmitted != 1 {
		t.Errorf("listed %+v, %d omitted", task.Raw, task.RawOmitted)
	}
	whole := rawTask(t, rawHost(), Sources{KubeletRoot: kubelet, PodUID: podUID, Raw: all, Whole: true})
	if len(whole.RawAll) != maxRaw+2 {
		t.Errorf("%d kept", len(whole.RawAll))
	}
	unlisted := []cmp.Option{cmp.FilterPath(func(p cmp.Path) bool {
		name := p.Last().String()
		return name == ".RawAll" || name == ".Rest"
	}, cmp.Ignore())}
	if diff := cmp.Diff(task, whole, unlisted...); diff != "" {
		t.Errorf("what is kept is listed (-not kept +kept):\n%s", diff)
	}
	last := Filter{Device: number(7, maxRaw)}
	found, ok := last.of(whole)
	if !ok || len(found.Raw) != 1 || found.Raw[0].Path != "/dev/loop16" || found.RawOmitted != 0 || len(found.Storage) != 1 {
		t.Errorf("the last one by its number: %t, %+v, %d storages", ok, found.Raw, len(found.Storage))
	}
	if _, ok := (Filter{Device: number(7, maxRaw+1)}).of(whole); ok {
		t.Error("a device that it does not have")
	}
	task = rawTask(t, rawHost(), Sources{KubeletRoot: kubelet, PodUID: podUID, Raw: all[:maxRaw+1]})
	if len(task.Raw) != maxRaw+1 || task.RawOmitted != 0 {
		t.Errorf("%d listed, %d omitted", len(task.Raw), task.RawOmitted)
	}
}

func TestRawReasons(t *testing.T) {
	raw := []facts.Device{block("/dev/xvda", number(253, 2))}
	tests := []struct {
		name   string
		change func(*fakeHost, *Sources)
		volume string
		why    string // of the task
		one    string // of the device
		hint   string
	}{
		{"all well", func(*fakeHost, *Sources) {}, "pvc-1", "", "", ""},
		{"a pod without raw volumes", func(h *fakeHost, _ *Sources) { h.dirs = nil }, "", "", "", ""},
		{"no pod", func(_ *fakeHost, s *Sources) { s.PodUID = "" }, "", "", "", ""},
		{"the directory hangs", func(h *fakeHost, _ *Sources) { h.errs = map[string]error{devices: errHung("d")} }, "", "d: its file system did not answer in 50ms", "", ""},
		{"one plugin hangs", func(h *fakeHost, _ *Sources) {
			h.errs = map[string]error{devices + "/kubernetes.io~local-volume": errHung("d")}
		}, "pvc-1", "d: its file system did not answer in 50ms", "", ""},
		{"a link leads to no device", func(h *fakeHost, _ *Sources) { delete(h.blocks, devices+"/kubernetes.io~csi/pvc-1") }, "", devices + "/kubernetes.io~csi/pvc-1: not a block device", "", ""},
		{"a device with another number", func(h *fakeHost, _ *Sources) { h.blocks[devices+"/kubernetes.io~csi/pvc-1"] = number(253, 4) }, "", "", "", ""},
		{"two volumes are one device", func(h *fakeHost, _ *Sources) { h.blocks[devices+"/kubernetes.io~local-volume/disk"] = number(253, 2) }, "pvc-1", "", "2 volumes of the pod are this device; this is the first", ""},
		{"no hint", func(h *fakeHost, _ *Sources) { h.files = nil }, "pvc-1", "", "", "the kubelet has no vol_data.json of it"},
	}
	for _, test := range tests {
		h, s := rawHost(), Sources{KubeletRoot: kubelet, PodUID: podUID, Raw: raw}
		test.change(h, &s)
		task := rawTask(t, h, s)
		r := task.Raw[0]
		if r.Volume != test.volume || task.RawWhy != test.why || r.Why != test.one || r.HintWhy != test.hint || r.LV != "vg0/pvc-1" {
			t.Errorf("%s: %+v, why %q", test.name, r, task.RawWhy)
		}
	}
}
