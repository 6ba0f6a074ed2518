package mangle

import (
	"strings"
	"testing"
)

func TestUnescapeUndoesThreeOctalDigitsAlone(t *testing.T) {
	for text, want := range map[string]string{
		`/a\040b`: "/a b", `/a\134040b`: `/a\040b`, `\012`: "\n", `a\`: `a\`, `\9x\08`: `\9x\08`,
		`/x\043y`: "/x#y", `"q"`: `"q"`, `\377`: "\xff", `\400`: `\400`, `\+01`: `\+01`, "": "",
	} {
		if got := Unescape(text); got != want {
			t.Errorf("%q is read as %q, want %q", text, got, want)
		}
	}
}

// FuzzEscape: what is escaped is one field, and is read as it was.
func FuzzEscape(f *testing.F) {
	f.Add("/a b\n\t\\040")
	f.Fuzz(func(t *testing.T, s string) {
		e := Escape(s)
		if strings.ContainsAny(e, " \t\n") || Unescape(e) != s {
			t.Errorf("%q is written %q and read %q", s, e, Unescape(e))
		}
	})
}
