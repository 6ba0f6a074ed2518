package pins

import (
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/overlay"
)

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"/a/b~c": "/a/b~c", "~x": "'~x'", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "a\nb": `$'a\012b'`, "$(x)": "'$(x)'", "\xff'": `$'\377\047'`,
	} {
		if got := Quote(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

// FuzzQuote: a word prints in one line, and a shell makes of it what it was.
func FuzzQuote(f *testing.F) {
	for _, s := range []string{"/a", "~", "'", "a\n'b\\", "\xff%", "-n", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Quote(s)
		if strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%q does not print: %q", s, got)
		}
		if back, ok := unquote(got); !ok || back != s {
			t.Errorf("%q became %s, which is %q", s, got, back)
		}
	})
}

// unquote reads a word as a shell does that knows only what Quote writes.
func unquote(s string) (string, bool) {
	var b strings.Builder
	for len(s) > 0 {
		switch {
		case strings.HasPrefix(s, "$'"):
			s = s[2:]
			for !strings.HasPrefix(s, "'") {
				if s == "" {
					return "", false
				}
				if s[0] == '\\' {
					b.WriteByte((s[1]-'0')<<6 | (s[2]-'0')<<3 | (s[3] - '0'))
					s = s[4:]
					continue
				}
				b.WriteByte(s[0])
				s = s[1:]
			}
			s = s[1:]
		case s[0] == '\'':
			text, rest, ok := strings.Cut(s[1:], "'")
			if !ok {
				return "", false
			}
			b.WriteString(text)
			s = rest
		case strings.HasPrefix(s, `\'`):
			b.WriteByte('\'')
			s = s[2:]
		case strings.ContainsRune(" \t\n\"$`\\*?[;&|<>()#!{}", rune(s[0])), s[0] == '~' && b.Len() == 0:
			return "", false
		default:
			b.WriteByte(s[0])
			s = s[1:]
		}
	}
	return b.String(), true
}

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
		got, ok := parseMapping(test.line)
		if got != test.want || ok != test.ok {
			t.Errorf("%q: %+v %t, want %+v %t", test.line, got, ok, test.want, test.ok)
		}
	}
}

// FuzzParseMapping: what is read has a device, and a path that the line has.
func FuzzParseMapping(f *testing.F) {
	f.Add("7f00-7f01 r--p 00000000 fd:07 12      /data/a")
	f.Add("- - - ff:ff")
	f.Fuzz(func(t *testing.T, line string) {
		m, ok := parseMapping(line)
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
		if diff := cmp.Diff(test.want, layerPaths(overlay.Parse(test.options))); diff != "" {
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
