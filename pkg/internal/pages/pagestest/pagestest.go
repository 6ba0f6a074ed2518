// Package pagestest tests that every code has its page.
package pagestest

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/internal/pages"
)

// command is one that stands where text stands, which is wrapped without a thought
// for where it ends.
var command = regexp.MustCompile(`^(crictl|findmnt|grep|journalctl|kubectl|ls|lvs|readlink|sysctl) |^containerd -|^mountward (check|doctor|explain|exposure|pins|status|test|verify|volumes)\b`)

// Check tests that each code has a page with all parts in their order, for a
// terminal of 80 columns, with a title of its own; and that no page is without a
// code. more tests what follows the last part's header, code by code.
func Check(t *testing.T, files fs.FS, codes, parts []string, more func(code, last string)) {
	t.Helper()
	var want []string
	titles := map[string]bool{}
	for _, code := range codes {
		want = append(want, "pages/"+code+".txt")
		page, ok := pages.Page(files, code)
		if !ok {
			t.Errorf("%s has no page", code)
			continue
		}
		title := pages.Title(files, code)
		if title == "" || len(title) > 68 || titles[title] || !strings.HasPrefix(page, code+" "+title+"\n\n") {
			t.Errorf("%s: title %q", code, title)
		}
		titles[title] = true
		rest := page
		for _, part := range parts {
			_, after, found := strings.Cut(rest, "\n"+part+"\n")
			if !found || strings.TrimSpace(after) == "" {
				t.Errorf("%s: no part %q in its place", code, part)
			}
			rest = after
		}
		more(code, rest)
		for i, line := range strings.Split(page, "\n") {
			if command.MatchString(line) {
				t.Errorf("%s: line %d: a command is indented, on a line of its own: %q", code, i+1, line)
			}
			if len(line) > 76 || strings.ContainsAny(line, "\t—–") || strings.TrimRight(line, " ") != line {
				t.Errorf("%s: line %d: %q", code, i+1, line)
			}
		}
	}
	got, err := fs.Glob(files, "pages/*")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pages (-codes +files):\n%s", diff)
	}
	for _, code := range []string{"", "MW100", strings.ToLower(codes[0]), "../pages/" + codes[0], codes[0] + ".txt"} {
		if _, ok := pages.Page(files, code); ok || pages.Title(files, code) != "" {
			t.Errorf("%q has a page", code)
		}
	}
}
