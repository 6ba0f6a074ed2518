package device

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestSplitName: as dmsetup splits.
func TestSplitName(t *testing.T) {
	text, err := os.ReadFile("testdata/splitname.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "# ") {
			continue
		}
		want := strings.Split(strings.TrimSuffix(line, "\n"), "|")
		vg, lv, layer := SplitName(want[0])
		if vg != want[1] || lv != want[2] || layer != want[3] {
			t.Errorf("%q = %q, %q, %q; want %q", want[0], vg, lv, layer, want[1:])
		}
		n++
	}
	if n < 30 {
		t.Errorf("%d names compared", n)
	}
	if vg, lv, layer := SplitName(""); vg+lv+layer != "" {
		t.Errorf("no name = %q, %q, %q", vg, lv, layer)
	}
}

// FuzzSplitName: what LVM joins is split into the same again.
func FuzzSplitName(f *testing.F) {
	f.Add("vg-data", "pvc-1", "")
	f.Add("a", "b", "tpool")
	f.Fuzz(func(t *testing.T, vg, lv, layer string) {
		_, _, _ = SplitName(vg + lv + layer)
		for _, part := range []string{vg, lv, layer} {
			// LVM's names do not begin with a hyphen; one at the end is
			// doubled like any other.
			if strings.HasPrefix(part, "-") {
				return
			}
		}
		if vg == "" || lv == "" {
			return
		}
		double := func(s string) string { return strings.ReplaceAll(s, "-", "--") }
		name := double(vg) + "-" + double(lv)
		if layer != "" {
			name += "-" + double(layer)
		}
		if a, b, c := SplitName(name); a != vg || b != lv || c != layer {
			t.Errorf("%q = %q, %q, %q; want %q, %q, %q", name, a, b, c, vg, lv, layer)
		}
	})
}

func TestUnmangle(t *testing.T) {
	for _, test := range []struct{ name, want string }{
		{`my\x20disk`, "my disk"},
		{`\x5cx20`, `\x20`}, // once only
		{`a\x0ab`, "a\nb"},
		{`vg0-data`, "vg0-data"},
		{`a\x2`, `a\x2`},
		{`a\x`, `a\x`},
		{`a\xzz`, `a\xzz`},
		{`a\x+1`, `a\x+1`},
		{`\xc3\xa4`, "ä"},
		{"", ""},
	} {
		if got := Unmangle(test.name); got != test.want {
			t.Errorf("%q = %q, want %q", test.name, got, test.want)
		}
	}
}

// FuzzUnmangle: what libdm mangles comes back.
func FuzzUnmangle(f *testing.F) {
	f.Add("my disk")
	f.Add(`\x20`)
	f.Fuzz(func(t *testing.T, name string) {
		_ = Unmangle(name)
		const free = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#+-.:=@_"
		var mangled strings.Builder
		for i := range len(name) {
			if strings.IndexByte(free, name[i]) >= 0 {
				mangled.WriteByte(name[i])
			} else {
				fmt.Fprintf(&mangled, `\x%02x`, name[i])
			}
		}
		if got := Unmangle(mangled.String()); got != name {
			t.Errorf("%q = %q, want %q", mangled.String(), got, name)
		}
	})
}

func TestLogicalVolume(t *testing.T) {
	vg, lv := id("vg"), id("lv")
	for _, test := range []struct{ name, uuid, volume, part string }{
		{"vg0-data", "LVM-" + vg + lv, "vg0/data", ""},
		{"vg0-data", "LVM-" + vg + lv + "-future", "vg0/data", "future"},
		{"vg0-pool_tdata_rimage_0", "LVM-" + vg + lv + "-real", "vg0/pool_tdata_rimage_0", "rimage"},
		{"vg0-pool_tdata_rimage_0", "LVM-" + vg + lv, "vg0/pool_tdata_rimage_0", "rimage"},
		{"vg0-pvmover", "LVM-" + vg + lv, "vg0/pvmover", ""},
		{"vg0-pvmove", "LVM-" + vg + lv, "vg0/pvmove", ""},
		{"vg0-pvmove12", "LVM-" + vg + lv, "vg0/pvmove12", "pvmove"},
		{"vg0-data", "LVM-" + vg + lv + "x", "", ""},
		{"vg0-data", "LVM-" + vg + lv[1:], "", ""},
		{"vg0-data", "LVM-" + vg + "-" + lv, "", ""},
		{"vg0", "LVM-" + vg + lv, "", ""},
		{"", "LVM-" + vg + lv, "", ""},
		{"vg0-data", "", "", ""},
		{"vg0-data", "lvm-" + vg + lv, "", ""},
	} {
		volume, part := logicalVolume(test.name, test.uuid)
		got := ""
		if volume != nil {
			got = volume.String()
		}
		if got != test.volume || part != test.part {
			t.Errorf("%q %q = %q %q, want %q %q", test.name, test.uuid, got, part, test.volume, test.part)
		}
	}
}

// FuzzLogicalVolume: a device that LVM made is a volume or a part of one, never
// both; a uuid without LVM's prefix is neither.
func FuzzLogicalVolume(f *testing.F) {
	uuid := "LVM-" + id("vg") + id("lv")
	f.Add("vg0-data", uuid)
	f.Add("vg0-pool-tpool", uuid+"-tpool")
	f.Add("vg0-a_rimage_0_iorig", uuid)
	f.Add("vg0-data", "CRYPT-LUKS2-0")
	f.Fuzz(func(t *testing.T, name, uuid string) {
		lv, part := logicalVolume(name, uuid)
		rest, ok := strings.CutPrefix(uuid, "LVM-")
		if lv == nil {
			if part != "" {
				t.Errorf("part %q of no volume", part)
			}
			return
		}
		vg, volume, _ := SplitName(name)
		if !ok || lv.VG != vg || lv.LV != volume || lv.VG == "" || lv.LV == "" {
			t.Errorf("%q %q = %+v", name, uuid, lv)
		}
		if back := strings.ReplaceAll(lv.VGUUID+lv.UUID, "-", ""); back != rest[:64] {
			t.Errorf("%q has the ids %q", uuid, back)
		}
		if part == "" && len(rest) > 65 {
			t.Errorf("%q %q is a public volume", name, uuid)
		}
	})
}
