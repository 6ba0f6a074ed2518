package vap

import (
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/mountward/mountward/pkg/policy"
)

// combinations returns all texts of one to most of the tokens.
func combinations(most int, tokens ...string) []string {
	all, last := []string{}, []string{""}
	for range most {
		var next []string
		for _, before := range last {
			for _, token := range tokens {
				next = append(next, before+token)
			}
		}
		all, last = append(all, next...), next
	}
	return all
}

// cleaned reports a path below a directory as the kernel would have it.
func cleaned(below string) bool { return below == strings.TrimPrefix(path.Clean("/"+below), "/") }

func TestAPathGlobIsTranslatedExactly(t *testing.T) {
	var paths []string
	for _, p := range combinations(5, "a", "b", "/") {
		if cleaned(p) {
			paths = append(paths, p)
		}
	}
	translated := 0
	for _, glob := range combinations(4, "a", "b*", "*", "**", "/", "?", "[!a]", "[b-c]", "{a,b}", "{a/b,b}", `\*`) {
		_, rest, _, err := (policy.Vars{}).Split("/x/" + glob)
		if err != nil || rest == "" || strings.HasPrefix(glob, "/") {
			continue
		}
		g := pathGlob{"/x", rest}
		e, ok := g.matches("p")
		if !ok || g.all() {
			continue
		}
		translated++
		re := expression(t, string(e))
		for _, p := range paths {
			if got, want := re("/x/"+p), policy.MatchBelow(rest, p); got != want {
				t.Fatalf("%s on %q: %v, the daemon says %v; %s", rest, p, got, want, e)
			}
		}
	}
	if translated < 1000 {
		t.Errorf("only %d globs were tried", translated)
	}
}

// expression evaluates p.matches("...") and p == "...".
func expression(t *testing.T, e string) func(string) bool {
	t.Helper()
	if text, ok := strings.CutPrefix(e, "p == "); ok {
		return func(p string) bool { return quote(p) == text }
	}
	literal := strings.TrimSuffix(strings.TrimPrefix(e, "p.matches("), ")")
	text, err := strconv.Unquote(literal) // what quote writes, Go and CEL read alike
	if err != nil || quote(text) != literal {
		t.Fatalf("%s is not what %q is written as: %v", literal, text, err)
	}
	return regexp.MustCompile(text).MatchString
}

func TestANameGlobIsTranslatedExactly(t *testing.T) {
	names := append(combinations(4, "a", "b", "/", "\n"), "", "é", "-")
	translated := 0
	for _, glob := range combinations(4, "a", "*", "?", "[!a]", "[a-c]", "[ -z]", "{a,b*}", "/", `\?`) {
		e, ok := nameGlob("p", glob)
		if !ok || strings.Contains(glob, "**") && glob != "**" {
			continue
		}
		translated++
		match := func(string) bool { return true }
		if e != always {
			match = expression(t, string(e))
		}
		for _, name := range names {
			slash := strings.NewReplacer("/", "\x00")
			if got, want := match(name), doublestar.MatchUnvalidated(slash.Replace(glob), slash.Replace(name)); got != want {
				t.Fatalf("%s on %q: %v, the daemon says %v; %s", glob, name, got, want, e)
			}
		}
	}
	if translated < 1000 {
		t.Errorf("only %d globs were tried", translated)
	}
}

func FuzzGlobsAreTranslatedExactly(f *testing.F) {
	f.Add("a*/**", "ab/c")
	f.Add("{a,b/c}[^x-z]?", "b/cde")
	f.Add("**/a/**/b", "a/x/b")
	f.Add("*\x1f\U0001F600\"", "a\x1f\U0001F600\"")
	f.Fuzz(func(t *testing.T, glob, below string) {
		prefix, rest, _, err := (policy.Vars{}).Split("/x/" + glob)
		g := pathGlob{prefix, rest}
		if err != nil || prefix != "/x" || rest == "" || g.all() || below == "" || !cleaned(below) || strings.ToValidUTF8(glob+below, "") != glob+below {
			t.Skip()
		}
		e, ok := g.matches("p")
		if !ok {
			return
		}
		if got, want := expression(t, string(e))("/x/"+below), policy.MatchBelow(rest, below); got != want {
			t.Fatalf("%q on %q: %v, the daemon says %v; %s", rest, below, got, want, e)
		}
	})
}
