package lint

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
)

func TestOfContainerd(t *testing.T) {
	for release, want := range map[string]string{
		"1.7": "0.8.0", "v1.7.29": "0.8.0", "2.0": "0.8.0", "2.1.9": "0.8.0", "2.2": "0.11.0", "2.3.1": "0.12.0",
		"2.4.2": "0.12.3", "2.4.0-rc.1": "0.12.3", "2.9": "0.12.3",
		"1.6": "", "3.0": "", "2": "", "": "", "two": "", "2.-1": "", "2.4.x": "",
	} {
		got, err := OfContainerd(release)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v; want %q", release, got, err, want)
		}
	}
}

func TestOlder(t *testing.T) {
	for _, test := range []struct {
		version, than string
		want          bool
	}{
		{"0.12.1", "0.12.2", true},
		{"0.12.2", "0.12.2", false},
		{"0.12.10", "0.12.2", false},
		{"0.8.0", "0.12.2", true},
		{"1.0", "0.12.2", false},
		{"0.12", "0.12.2", true},
		{"v0.11.0", "0.12.2", true},
		{"unknown", "0.12.2", false},
	} {
		if got := older(test.version, test.than); got != test.want {
			t.Errorf("%s older than %s: %v", test.version, test.than, got)
		}
	}
}

// TestAFactThatTheRuntimeDoesNotTell is reported with what follows from it, and
// only where the runtime is known.
func TestAFactThatTheRuntimeDoesNotTell(t *testing.T) {
	image := policy.Key{Name: keyImage, Values: []string{"a*"}}
	for _, test := range []struct {
		nri    string
		action facts.Action
		except bool
		want   string
	}{
		{"", facts.ActionAllow, false, ""},
		{"0.12.2", facts.ActionAllow, false, ""},
		{"0.12.0", facts.ActionAllow, false, "the rule never matches"},
		{"0.8.0", facts.ActionDeny, false, "the rule matches every container"},
		{"0.8.0", facts.ActionAllow, true, "the exception takes every container out of the rule"},
		{"0.8.0", facts.ActionDeny, true, "the exception is for none"},
	} {
		l := &linter{options: Options{NRI: test.nri}}
		r := &rule{Rule: &policy.Rule{Name: "a", Action: test.action}}
		if test.except {
			r.Except = []policy.Key{image}
		} else {
			r.Match = []policy.Key{image}
		}
		l.noSuchFact(r)
		switch {
		case test.want == "" && len(l.found) > 0, test.want != "" && (len(l.found) != 1 || !strings.Contains(l.found[0].Message, test.want)):
			t.Errorf("%+v: %+v", test, l.found)
		}
	}
}

func TestAlternatives(t *testing.T) {
	for glob, want := range map[string][]string{
		"/a":                        {"/a"},
		"/{a,b}/c":                  {"/a/c", "/b/c"},
		"/{a,b{c,d}}{e,}":           {"/ae", "/a", "/bce", "/bc", "/bde", "/bd"},
		"${kubelet_root}/{a,b}":     {"${kubelet_root}/a", "${kubelet_root}/b"},
		"/{${kubelet_root},x}/y":    {"/${kubelet_root}/y", "/x/y"},
		`/\{a,b\}`:                  {`/\{a,b\}`},
		"/[{]x/{a,b}":               {"/[{]x/{a,b}"},
		"/{a/b,c}/${runtime_state}": {"/a/b/${runtime_state}", "/c/${runtime_state}"},
	} {
		if diff := cmp.Diff(want, alternatives(glob)); diff != "" {
			t.Errorf("%s: %s", glob, diff)
		}
	}
}

// FuzzAlternatives: a path is in a glob where and only where it is in one of its
// alternatives, and none of those has braces.
func FuzzAlternatives(f *testing.F) {
	f.Add("/{a,b{c,d}}{e,}", "/bce")
	f.Add("{a,b}*", "b")
	f.Fuzz(func(t *testing.T, glob, p string) {
		if !doublestar.ValidatePattern(glob) || strings.ContainsAny(glob, `\[$`) || strings.Count(glob, "{") > 4 || strings.Count(glob, ",") > 4 || strings.Contains(glob, "**") {
			return
		}
		all := alternatives(glob)
		in := slices.ContainsFunc(all, func(one string) bool { return doublestar.MatchUnvalidated(one, p) })
		if in != doublestar.MatchUnvalidated(glob, p) {
			t.Errorf("%q in %q: alternatives %q say %v", p, glob, all, in)
		}
	})
}

// TestTenThousandRulesAreLinted, the most there are, in little work where a path
// or a name tells them apart; where none does, the rest is said not to be compared.
func TestTenThousandRulesAreLinted(t *testing.T) {
	for _, test := range []struct {
		name, rule string
		want       []facts.LintCode
		work       int
	}{
		{"by source", "match.source=['/a%[1]d/**']\nmatch.namespace=['a*%[1]d','*b']\naction='allow'\n", nil, 500_000},
		{"by source, denied", "match.source=['/a%[1]d/**']\nmatch.namespace=['a*%[1]d','*b']\naction='deny'\n", []facts.LintCode{facts.LintWayAround}, mostWork},
		{"by name", "match.pod=['p*']\nmatch.namespace=['n%d']\naction='deny'\n", nil, 500_000},
		{"by globs", "match.namespace=['*n%d','x*']\naction='deny'\n", []facts.LintCode{facts.LintNotCompared}, 500_000},
	} {
		var b strings.Builder
		b.WriteString(head + "lint_ignore = [\"MW211\"]\n") // reasons would not fit
		for i := range policy.MaxRules - 1 {
			fmt.Fprintf(&b, "[[rule]]\nname='%d'\n", i)
			fmt.Fprintf(&b, test.rule, i)
		}
		b.WriteString("[[rule]]\nname=\"last\"\nmatch.propagation = [\"shared\"]\naction = \"deny\"\n")
		found := with(t, b.String(), Options{work: test.work})
		slices.Sort(found)
		if got := slices.Compact(found); !slices.Equal(got, test.want) {
			t.Errorf("%s: findings %v, want %v", test.name, got, test.want)
		}
	}
}

// TestALargePolicyIsLinted: the time that pairs of rules take stays bounded.
func TestALargePolicyIsLinted(t *testing.T) {
	var b strings.Builder
	b.WriteString(head)
	for i := range 1000 {
		fmt.Fprintf(&b, "[[rule]]\nname = \"%d\"\nreason = \"r\"\nmatch.namespace = [\"n%[1]d\"]\nmatch.propagation = [\"shared\"]\naction = \"deny\"\n", i)
	}
	b.WriteString("[[rule]]\nname = \"last\"\nmatch.namespace = [\"n999\", \"n7\"]\nmatch.propagation = [\"shared\"]\naction = \"audit\"\n")
	if got := codes(t, b.String()); len(got) != 1 || got[0] != facts.LintShadowed {
		t.Errorf("findings %v", got)
	}
}
