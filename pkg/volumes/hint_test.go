package volumes

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mountward/mountward/pkg/facts"
)

// TestHint: what the kubelet wrote down is a hint, or there is a reason why
// there is none.
func TestHint(t *testing.T) {
	tests := []struct {
		name, text      string
		driver, handle  string
		lifecycle, want string // part of the reason
	}{
		{"whole", volumeDataOf1, "lvm.example.com", "handle-1", "Persistent", ""},
		{"of an old kubelet", `{"volumeHandle":"h","driverName":"d"}`, "d", "h", "", ""},
		{"with a new line and more keys", `{"volumeHandle":"h","driverName":"d","seLinuxMountContext":"","x":[1]}` + "\n", "d", "h", "", ""},
		{"any text", `{"volumeHandle":"\u0000\n\u202e` + "\xff" + `","driverName":"a b"}`, "a b", "\x00\n\u202e\ufffd", "", ""},
		{"empty", ``, "", "", "", "it is empty"},
		{"half", volumeDataOf1[:40], "", "", "", "unexpected end"},
		{"two", volumeDataOf1 + volumeDataOf1, "", "", "", "after top-level value"},
		{"no JSON", "hello", "", "", "", "invalid character"},
		{"a list", `[]`, "", "", "", "cannot unmarshal array"},
		{"null", `null`, "", "", "", "no driverName"},
		{"a number for a handle", `{"volumeHandle":1,"driverName":"d"}`, "", "", "", "cannot unmarshal number"},
		{"an object for a mode", `{"volumeHandle":"h","driverName":"d","volumeLifecycleMode":{}}`, "", "", "", "volumeLifecycleMode"},
		{"no handle", `{"driverName":"d"}`, "", "", "", "no driverName and volumeHandle"},
		{"of another volume", strings.Replace(volumeDataOf1, `"pvc-1"`, `"pvc-2"`, 1), "", "", "", "it is about volume pvc-2"},
		{"huge", `{"volumeHandle":"` + strings.Repeat("h", maxVolumeData) + `","driverName":"d"}`, "", "", "", "larger than 65536 bytes"},
		{"missing", "-", "", "", "", "the kubelet has no vol_data.json of it"},
	}
	for _, test := range tests {
		h := onHost(map[string]facts.HostMount{csiTarget: {Device: number(253, 2), Root: "/", FSType: "xfs"}})
		if test.text != "-" {
			h.files = map[string]string{csiVolume + "/vol_data.json": test.text}
		}
		m, _ := one(t, h, node(), csiTarget, "101 100 253:2 / /data rw - xfs x rw")
		if m.Driver != test.driver || m.Handle != test.handle || m.Lifecycle != test.lifecycle {
			t.Errorf("%s: driver %q, handle %q, lifecycle %q", test.name, m.Driver, m.Handle, m.Lifecycle)
		}
		if (m.HintWhy == "") != (test.want == "") || !strings.Contains(m.HintWhy, test.want) {
			t.Errorf("%s: why %q, want %q in it", test.name, m.HintWhy, test.want)
		}
		if m.LV != "vg0/pvc-1" || m.Why != "" {
			t.Errorf("%s: a hint changed the map: LV %q, why %q", test.name, m.LV, m.Why)
		}
	}
	h := onHost(map[string]facts.HostMount{csiTarget: {Device: number(253, 2), Root: "/", FSType: "xfs"}})
	h.errs = map[string]error{csiVolume + "/vol_data.json": errHung("f")}
	if m, _ := one(t, h, node(), csiTarget, "101 100 253:2 / /data rw - xfs x rw"); !strings.Contains(m.HintWhy, "did not answer") {
		t.Errorf("hung: why %q", m.HintWhy)
	}
}

// FuzzVolumeData: all or nothing, and what the kubelet writes is read.
func FuzzVolumeData(f *testing.F) {
	f.Add(volumeDataOf1)
	f.Add(`{"volumeHandle":"h","driverName":null}`)
	f.Add(`{"volumeHandle":"h","volumeHandle":"i","driverName":"d"}`)
	f.Fuzz(func(t *testing.T, text string) {
		d, err := parseVolumeData([]byte(text))
		if (err == nil) != (d.Driver != "" && d.Handle != "") || err != nil && d != (volumeData{}) {
			t.Errorf("%q: %+v, %v", text, d, err)
		}
		text = strings.ToValidUTF8(text, "?")
		if text == "" {
			return
		}
		written, err := json.Marshal(map[string]string{"volumeHandle": text, "driverName": "d", "specVolID": text})
		if err != nil {
			t.Fatal(err)
		}
		d, err = parseVolumeData(written)
		if err != nil || d.Handle != text || d.Volume != text {
			t.Errorf("%q: %+v, %v", written, d, err)
		}
		if _, err := parseVolumeData(written[:len(written)-1]); err == nil {
			t.Errorf("half of %q is read", written)
		}
	})
}
