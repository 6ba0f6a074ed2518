package shell

import (
	"strings"
	"testing"
	"unicode"
)

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"/a/b~c": "/a/b~c", "~x": "'~x'", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "a\nb": `$'a\012b'`, "$(x)": "'$(x)'", "-rf": "'-rf'", "a%b": "a%b", "\xff'": `$'\377\047'`,
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
