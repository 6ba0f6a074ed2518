package doctor

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
)

// TestTheWorstProblemIsFirst: what lets containers fail, then what grows, then
// what else there is in the order of the checks; so of what cannot be told; what
// is sound is as the checks gave it.
func TestTheWorstProblemIsFirst(t *testing.T) {
	all := []Finding{
		finding(CodeShared, facts.Yes, "a", ""), finding(CodeMountMaxFar, facts.Yes, "b", ""), finding(CodeNamespacesApart, facts.Yes, "c", ""),
		finding(codeToleration, facts.Unknown, "d", ""), finding(CodeUnresolved, facts.Unknown, "e", ""),
		finding(CodeRootLink, facts.No, "f", ""), finding(CodeCRIMisjudges, facts.No, "g", ""), finding(CodeNRIMisjudges, facts.No, "h", ""),
		finding(CodeCRIMisjudges, facts.No, "i", ""), finding(CodeNotShared, facts.No, "j", ""), finding(codePluginLeftover, facts.No, "k", ""),
		finding(CodeDoubling, facts.No, "l", ""), finding(CodeMountMax, facts.No, "m", ""), finding(CodeNotShared, facts.No, "n", ""),
		finding(codeRequiredMissing, facts.No, "o", ""), finding(CodeStaleContainer, facts.No, "p", ""),
	}
	inOrder(all)
	var got []string
	for _, f := range all {
		got = append(got, f.Subject)
	}
	want := []string{"j", "n", "g", "i", "o", "h", "m", "l", "f", "k", "p", "e", "d", "a", "b", "c"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if codes := severest(); len(slices.Compact(slices.Sorted(slices.Values(codes)))) != len(codes) {
		t.Errorf("a code is there twice: %v", codes)
	}
}

// TestTheOneLineIsOfTheWorst, whichever check found it: a root behind a link is
// found before that its mount is private.
func TestTheOneLineIsOfTheWorst(t *testing.T) {
	s := ordinary(private).with(map[string]string{"/var/lib/kubelet": "-> /srv/k", "/srv/k/pods/x": ""}).snapshot(t)
	d := Run(t.Context(), s, Checks()).Document(s)
	problems := d.Answered(facts.No)
	has := func(code string) bool {
		return slices.ContainsFunc(problems, func(f Finding) bool { return f.Code == code })
	}
	if !has(CodeRootLink) || problems[0].Code != CodeNotShared || d.OneLine()[:len(CodeNotShared)] != CodeNotShared {
		t.Errorf("%v: %s", brief(problems), d.OneLine())
	}
}
