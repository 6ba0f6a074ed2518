package pins

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/overlay"
)

func TestParseMapping(t *testing.T) {
	for _, test := range []struct {
		line string
		want mapping
		ok   bool
	}{
		{"7f00-7f01 r--p 00000000 fd:07 12 \t      /data/a b (deleted)", mapping{facts.DeviceNumber{Major: 253, Minor: 7}, "\t      /data/a b (deleted)"}, true},
		{"7f00-7f01 r--p 00000000 fd:07 12      /data/a b (deleted)", mapping{facts.DeviceNumber{Major: 253, Minor: 7}, "/data/a b (deleted)"}, true},
		{"7f00-7f01 r--p 00000000 fd:07 12      /data/a\\012b", mapping{facts.DeviceNumber{Major: 253, Minor: 7}, "/data/a\nb"}, true},
		{"7f00-7f01 rw-p 00000000 00:00 0 ", mapping{}, false},
		{"7f00-7f01 rw-p 00000000 00:00 0   [heap]", mapping{}, false},
		{"7f00-7f01 rw-p 00000000 10300:fffff 3 /x", mapping{facts.DeviceNumber{Major: 0x10300, Minor: 0xfffff}, "/x"}, true},
		{"", mapping{}, false},
		{"a b c d e f", mapping{}, false},
	} {
		got, ok := parseMapping([]byte(test.line), func(facts.DeviceNumber) bool { return true })
		if got != test.want || ok != test.ok {
			t.Errorf("%q: %+v %t, want %+v %t", test.line, got, ok, test.want, test.ok)
		}
		if other, ok := parseMapping([]byte(test.line), func(n facts.DeviceNumber) bool { return n != test.want.device }); ok {
			t.Errorf("%q: %+v, which is not wanted", test.line, other)
		}
	}
}

// FuzzParseMapping: what is read has a device, and a path that the line has.
func FuzzParseMapping(f *testing.F) {
	f.Add("7f00-7f01 r--p 00000000 fd:07 12      /data/a")
	f.Add("- - - ff:ff")
	f.Fuzz(func(t *testing.T, line string) {
		m, ok := parseMapping([]byte(line), func(facts.DeviceNumber) bool { return true })
		if ok && !strings.HasSuffix(strings.ReplaceAll(line, `\012`, "\n"), m.path) {
			t.Errorf("%q: path %q", line, m.path)
		}
	})
}

func TestLayerPaths(t *testing.T) {
	for _, test := range []struct {
		options string
		want    []string
	}{
		{"rw,lowerdir=/l1:/l2,upperdir=/u/5/fs,workdir=/u/5/work", []string{"/u/5/fs", "/l1", "/l2"}},
		{"ro,lowerdir=4/fs:3/fs,upperdir=/s/5/fs,workdir=/s/5/work", []string{"/s/5/fs", "/s/4/fs", "/s/3/fs"}},
		{"ro,lowerdir=4/fs:3/fs", []string{"4/fs", "3/fs"}},
		{`rw,lowerdir=/a\134:b:/c\040d`, []string{"/a:b", "/c d"}},
		{"rw,lowerdir+=/a:b,lowerdir+=/c,datadir+=/d", []string{"/a:b", "/c", "/d"}},
		{"rw,lowerdir=/a::/data", []string{"/a", "/data"}},
		{"", nil},
	} {
		var got []string
		for i, l := range layerPaths(overlay.Parse(test.options)) {
			if l.upper != (i == 0 && strings.Contains(test.options, "upperdir=")) {
				t.Errorf("%s: layer %d is the upper one: %t", test.options, i, l.upper)
			}
			got = append(got, l.path)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.options, diff)
		}
	}
}

func TestFstabLines(t *testing.T) {
	got := fstabLines("#/dev/vg0/x /a\n/dev/vg0/x\t/a b\n/dev/vg0/xy /c d\n/dev/vg\\0400/y /e f\n", []string{"/dev/vg0/x", "/dev/vg 0/y"})
	if diff := cmp.Diff([]string{"/dev/vg0/x /a b", `/dev/vg\0400/y /e f`}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
