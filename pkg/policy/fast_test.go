package policy

import (
	"path"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
)

// reads is what doublestar says of a path glob, and that "x/**" is x itself too.
// Of that doublestar makes an exception where x has a star near its end and there
// is nothing left for it: "ab" is in "a*/**", and "a" is not.
func reads(glob, below string) bool {
	x := glob
	for deep := true; deep; {
		x, deep = strings.CutSuffix(x, "/**")
	}
	return doublestar.MatchUnvalidated(glob, below) || doublestar.MatchUnvalidated(x, below)
}

// FuzzGlobsAreDoublestars: what is compared without doublestar is what
// doublestar says, for names and for paths.
func FuzzGlobsAreDoublestars(f *testing.F) {
	for _, seed := range [][2]string{
		{"*", "a"},
		{"a*", "ab"},
		{"*b", "ab"},
		{"**", "a/b"},
		{"a/**", "a"},
		{"a/**", "a/b/c"},
		{"*/x/**", "a/x"},
		{"*/x", "a/x/y"},
		{"a/*/c*", "a/b/cd"},
		{"*/*", "a"},
		{"a", "a/b"},
		{"a?", "ab"},
		{"*.*", "a.b"},
		{"**/a", "a"},
		{"*", ""},
		{"é*", "é\xff"},
		{"a*", "a\xff"},
		{"a*/**", "a"},
		{"{a,b}*/**", "b"},
		{"[ab]*/**/**", "b"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, glob, text string) {
		if checkGlob(glob, glob) != nil {
			return
		}
		name := strings.ReplaceAll(text, "/", slash)
		if g, err := newNameGlob(glob); err == nil && glob != "" && !strings.Contains(text+glob, slash) {
			if got, want := g.match(text), doublestar.MatchUnvalidated(g.pattern, name); got != want {
				t.Errorf("name %q in %q: %v, doublestar says %v", text, glob, got, want)
			}
		}
		below := strings.TrimPrefix(path.Clean("/"+text), "/")
		rest := strings.TrimPrefix(path.Clean("/"+glob), "/")
		if below == "" || rest == "" {
			return
		}
		g := newRestGlob(rest)
		if got, want := g.match(below), reads(rest, below); got != want {
			t.Errorf("path %q in %q: %v, doublestar says %v", below, rest, got, want)
		}
	})
}
