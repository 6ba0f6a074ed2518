package lint

import (
	"slices"
	"strings"
	"testing"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/pages/pagestest"
	"github.com/mountward/mountward/pkg/policy"
)

// head makes a policy of rules.
const head = "version = 1\nmode = \"enforce\"\ndefault = \"allow\"\n"

func parse(t testing.TB, text string) *policy.Policy {
	t.Helper()
	p, err := policy.Parse(policy.File{Name: "p.toml", Data: []byte(text)})
	if err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	return p
}

// codes returns the codes of a policy's findings, on a runtime that tells little.
func codes(t testing.TB, text string) []facts.LintCode {
	t.Helper()
	return with(t, text, Options{NRI: "0.8.0"})
}

func with(t testing.TB, text string, o Options) []facts.LintCode {
	t.Helper()
	var all []facts.LintCode
	for _, f := range Check(parse(t, text), o) {
		all = append(all, f.Code)
	}
	return all
}

// TestEveryCodeHasItsPage, and what the page has as "before" gives the finding,
// what it has as "after" none at all.
func TestEveryCodeHasItsPage(t *testing.T) {
	var all []string
	for _, code := range facts.LintCodes() {
		all = append(all, string(code))
		if page, ok := Page(code); !ok || !strings.HasPrefix(page, string(code)+" "+Title(code)+"\n") {
			t.Errorf("%s: title %q of page %.80q", code, Title(code), page)
		}
	}
	parts := []string{"WHAT IT IS", "WHY IT MATTERS", "HOW TO SEE IT", "HOW TO FIX IT", "BEFORE", "AFTER", "TO SILENCE IT"}
	pagestest.Check(t, files, all, parts, func(code, silence string) {
		page, _ := Page(facts.LintCode(code))
		_, rest, _ := strings.Cut(page, "\nBEFORE\n")
		before, rest, _ := strings.Cut(rest, "\nAFTER\n")
		after, _, _ := strings.Cut(rest, "\nTO SILENCE IT\n")
		o := Options{NRI: "0.8.0", work: map[string]int{string(facts.LintNotCompared): 5}[code]}
		if code == string(facts.LintSkipped) {
			o.Skipped = []string{"policy.d/10-keys.TOML"}
		}
		if got := with(t, example(before), o); !slices.Contains(got, facts.LintCode(code)) {
			t.Errorf("%s: the policy before has findings %v", code, got)
		}
		o.Skipped = nil
		if got := with(t, example(after), o); len(got) > 0 {
			t.Errorf("%s: the policy after has findings %v", code, got)
		}
		if line := "  lint_ignore = [\"" + code + "\"]\n"; code != string(facts.LintIgnoreUnused) && !strings.Contains(silence, line) {
			t.Errorf("%s: the line that silences it is missing", code)
		}
	})
}

// example is an indented policy of a page, with a head if it has none.
func example(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimPrefix(line, "  "))
	}
	if strings.Contains(b.String(), "version = 1") {
		return b.String()
	}
	return head + b.String()
}
