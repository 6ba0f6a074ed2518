package hazard

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
)

// TestEveryCodeHasItsPage, with all its parts, for a terminal of 80 columns; and
// no page is without a code.
func TestEveryCodeHasItsPage(t *testing.T) {
	t.Parallel()
	var want []string
	titles := map[string]bool{}
	for _, code := range facts.HazardCodes() {
		want = append(want, "pages/"+string(code)+".txt")
		page, ok := Page(code)
		if !ok {
			t.Errorf("%s has no page", code)
			continue
		}
		if title := Title(code); title == "" || len(title) > 68 || titles[title] || !strings.HasPrefix(page, string(code)+" "+title+"\n\n") {
			t.Errorf("%s: title %q", code, title)
		}
		titles[Title(code)] = true
		rest := page
		for _, part := range []string{"WHAT IT IS", "WHY IT IS DANGEROUS", "HOW TO SEE IT ON A NODE", "HOW TO CURE IT", "IN THE POLICY"} {
			_, after, found := strings.Cut(rest, "\n"+part+"\n")
			if !found || strings.TrimSpace(after) == "" {
				t.Errorf("%s: no part %q in its place", code, part)
			}
			rest = after
		}
		if !strings.Contains(rest, "[hazards]\n  "+string(code)+" = ") {
			t.Errorf("%s: the policy's line is missing", code)
		}
		for i, line := range strings.Split(page, "\n") {
			if len(line) > 76 || strings.ContainsAny(line, "\t—–") || strings.TrimRight(line, " ") != line {
				t.Errorf("%s: line %d: %q", code, i+1, line)
			}
		}
	}
	got, err := fs.Glob(pages, "pages/*")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pages (-codes +files):\n%s", diff)
	}
	for _, code := range []facts.HazardCode{"", "MW100", "mw101", "../pages/MW101", "MW101.txt"} {
		if _, ok := Page(code); ok || Title(code) != "" {
			t.Errorf("%q has a page", code)
		}
	}
}
