package volumes

import (
	"context"
	"strings"
	"testing"

	"github.com/mountward/mountward/pkg/facts"
)

// completed is kind, name and driver as a policy gets them: "-" for none, "?"
// for what is not known.
func completed(ctx context.Context, h Files, source string, wanted Wanted) (string, facts.Volume) {
	c := facts.Container{Pod: facts.Pod{UID: podUID}}
	v, k := facts.VolumeOf(&c, &facts.Mount{Source: source, Type: "bind"}, kubelet)
	v = Complete(ctx, h, v, k, wanted)
	var words []string
	for _, w := range []facts.Word{v.Kind, v.Name, v.Driver} {
		switch {
		case !w.Known:
			words = append(words, "?")
		case w.Text == "":
			words = append(words, "-")
		default:
			words = append(words, w.Text)
		}
	}
	return strings.Join(words, " "), v
}

func TestCompleteReadsWhatIsWantedAndNoMore(t *testing.T) {
	const (
		all      = true
		other    = kubelet + "/pods/other"
		staged   = kubelet + "/plugins/kubernetes.io/csi/pv/pvc-1"
		devData  = kubelet + "/plugins/kubernetes.io/csi/volumeDevices/pvc-1/data"
		sub      = pod + "/volume-subpaths/"
		data     = `{"volumeHandle":"h","driverName":"d.example.com"}`
		csi      = "/kubernetes.io~csi"
		emptyDir = "/kubernetes.io~empty-dir"
	)
	h := &fakeHost{
		files: map[string]string{
			csiVolume + "/vol_data.json":                               data,
			other + "/volumes/kubernetes.io~csi/pvc-9/vol_data.json":   data,
			staged + "/vol_data.json":                                  data,
			devData + "/vol_data.json":                                 data,
			volumesOfPod + "/kubernetes.io~csi/half/vol_data.json":     data[:9],
			volumesOfPod + "/kubernetes.io~csi/mistaken/vol_data.json": `{"volumeHandle":"h","driverName":"d","specVolID":"pvc-7"}`,
		},
		dirs: map[string][]string{
			volumesOfPod:                      {"example.com~lvm", "kubernetes.io~csi", "kubernetes.io~empty-dir"},
			volumesOfPod + csi:                {"pvc-1", "both"},
			volumesOfPod + emptyDir:           {"tmp", "both"},
			volumesOfPod + "/example.com~lvm": {"f"},
			other + "/volumes":                {"kubernetes.io~csi"},
			other + "/volumes" + csi:          {"pvc-9"},
		},
		errs: map[string]error{volumesOfPod + csi + "/hung": errHung("f")},
	}
	for _, test := range []struct {
		source       string
		kind, driver bool
		want         string
		asks         int
		why          string // in one of the reasons
	}{
		{csiTarget, false, false, "csi pvc-1 ?", 0, "was not read"},
		{csiTarget, all, false, "csi pvc-1 ?", 0, "was not read"},
		{csiTarget, false, all, "csi pvc-1 d.example.com", 1, ""},
		{csiTarget + "/below", all, all, "csi pvc-1 d.example.com", 1, ""},
		{volumesOfPod + "/kubernetes.io~secret/s", all, all, "secret s -", 0, ""},
		{"/srv", all, all, "hostPath - -", 0, ""},
		{volumesOfPod + csi + "/half/mount", all, all, "csi half ?", 1, "unexpected end"},
		{volumesOfPod + csi + "/mistaken/mount", all, all, "csi mistaken ?", 1, "it is about volume pvc-7"},
		{volumesOfPod + csi + "/hung/mount", all, all, "csi hung ?", 1, "did not answer"},
		{volumesOfPod + csi + "/gone/mount", all, all, "csi gone ?", 1, "the kubelet has no vol_data.json"},

		{sub + "pvc-1/main/0", false, false, "? pvc-1 ?", 0, "does not show"},
		{sub + "pvc-1/main/0", all, false, "csi pvc-1 ?", 4, "was not read"},
		{sub + "pvc-1/main/0", all, all, "csi pvc-1 d.example.com", 5, ""},
		{sub + "tmp/main/0", all, all, "emptyDir tmp -", 4, ""},
		{sub + "f/main/0", all, all, "flexVolume f example.com/lvm", 4, ""},
		{sub + "a-host-path/main/0", all, all, "hostPath a-host-path -", 4, ""},
		{sub + "both/main/0", all, all, "? both ?", 4, "2 plugins have"},

		{other + "/volumes/kubernetes.io~csi/pvc-9/mount", all, all, "hostPath pvc-9 d.example.com", 1, ""},
		{other + "/volume-subpaths/pvc-9/main/0", all, all, "hostPath pvc-9 d.example.com", 3, ""},
		{other + "/volume-subpaths/tmp/main/0", all, all, "hostPath tmp -", 2, ""},
		{staged + "/globalmount", all, all, "hostPath pvc-1 d.example.com", 1, ""},
		{kubelet + "/plugins/kubernetes.io/csi/volumeDevices/staging/pvc-1", all, all, "hostPath pvc-1 d.example.com", 1, ""},
	} {
		h.asked = nil
		got, v := completed(t.Context(), h, test.source, Wanted{test.kind, test.driver})
		if got != test.want || len(h.asked) != test.asks {
			t.Errorf("%s: %q with %q, want %q with %d", test.source, got, h.asked, test.want, test.asks)
		}
		if why := v.Kind.Why + v.Name.Why + v.Driver.Why; (why == "") != (test.why == "") || !strings.Contains(why, test.why) {
			t.Errorf("%s: why %q, want %q in it", test.source, why, test.why)
		}
	}
}

func TestCompleteAsksNothingOnceTheTimeIsOver(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h := &fakeHost{}
	for _, source := range []string{csiTarget, pod + "/volume-subpaths/pvc-1/main/0"} {
		got, v := completed(ctx, h, source, Wanted{true, true})
		if !strings.HasSuffix(got, "?") || !strings.Contains(v.Driver.Why, "no time left") || len(h.asked) > 0 {
			t.Errorf("%s: %s, %+v, asked %q", source, got, v, h.asked)
		}
	}
}

// TestStored: of the map's words for what a mount lies on, three answers.
func TestStored(t *testing.T) {
	for _, test := range []struct {
		b    Backing
		want string
	}{
		{Backing{LV: "vg0/a"}, "true [vg0/a] "},
		{Backing{LV: "vg0/a", LVs: []string{"vg0/a", "vg1/b"}}, "true [vg0/a vg1/b] "},
		{Backing{NoLV: "tmpfs"}, "true [] tmpfs"},
		{Backing{NoLV: cannotTell + "it is gone"}, "false [] it is gone"},
		{Backing{}, "false [] the map does not say"},
	} {
		s := test.b.Stored()
		var lvs []string
		for _, lv := range s.LVs {
			lvs = append(lvs, lv.String())
		}
		got := map[bool]string{true: "true", false: "false"}[s.Known] + " [" + strings.Join(lvs, " ") + "] " + s.Why
		if got != test.want {
			t.Errorf("%+v: %q, want %q", test.b, got, test.want)
		}
	}
}
