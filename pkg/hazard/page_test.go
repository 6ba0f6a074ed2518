package hazard

import (
	"strings"
	"testing"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/pages/pagestest"
)

func TestEveryCodeHasItsPage(t *testing.T) {
	t.Parallel()
	var codes []string
	for _, code := range facts.HazardCodes() {
		codes = append(codes, string(code))
		if page, ok := Page(code); !ok || !strings.HasPrefix(page, string(code)+" "+Title(code)+"\n") {
			t.Errorf("%s: title %q of page %.80q", code, Title(code), page)
		}
	}
	parts := []string{"WHAT IT IS", "WHY IT IS DANGEROUS", "HOW TO SEE IT ON A NODE", "HOW TO CURE IT", "IN THE POLICY"}
	pagestest.Check(t, files, codes, parts, func(code, policy string) {
		if !strings.Contains(policy, "[hazards]\n  "+code+" = ") {
			t.Errorf("%s: the policy's line is missing", code)
		}
	})
}
