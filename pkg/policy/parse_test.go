package policy

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/strict"
)

// head makes a policy of rules.
const head = "version = 1\nmode = \"enforce\"\ndefault = \"allow\"\n"

func parse(t testing.TB, text string) *Policy {
	t.Helper()
	p, err := Parse(File{"p.toml", []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Every file of testdata/bad is refused with exactly the errors of bad.golden.
func TestBadPoliciesAreRefusedWithPlaceAndReason(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.toml")
	if err != nil || len(files) < 25 {
		t.Fatalf("%d files (%v)", len(files), err)
	}
	var all strings.Builder
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Parse(File{filepath.Base(file), data})
		var list strict.Errors
		if p != nil || !errors.As(err, &list) || len(list) == 0 {
			t.Errorf("%s: policy %v, error %v (%[3]T): want no policy and strict.Errors", file, p, err)
			continue
		}
		fmt.Fprintln(&all, err)
	}
	golden(t, "testdata/bad.golden", all.String())
}

func TestGoodPoliciesAreAccepted(t *testing.T) {
	files, err := filepath.Glob("testdata/good/*.toml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files (%v)", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Parse(File{file, data}); err != nil {
			t.Error(err)
		}
	}
}

func TestParseKeepsWhatAPolicySays(t *testing.T) {
	got := parse(t, head+`[[rule]]
name = "a"
reason = "why"
match = {}
action = "set"
propagation = "rslave"
on_unmet = "deny"
[[rule]]
name = "b"
match = {}
action = "audit"
`)
	want := &Policy{
		Version: 1, Mode: ModeEnforce, Default: facts.ActionAllow, Name: "p.toml",
		SHA256: "8084a3c3723bc181cf250f5abf3fdee822e20e366bbca2e244aa3b85963bbcd3",
		Rules: []Rule{
			{Name: "a", Reason: "why", Position: "p.toml:4", Action: facts.ActionSet, Propagation: facts.Slave, OnUnmet: OnUnmetDeny},
			{Name: "b", Position: "p.toml:11", Action: facts.ActionAudit},
		},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Policy{}, Rule{})); diff != "" {
		t.Error(diff)
	}
}

// rules makes many.
func rules(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "[[rule]]\nname = \"%d\"\nmatch = {}\naction = \"audit\"\n", i)
	}
	return b.String()
}

func TestParseRefusesWhatIsTooLarge(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"10,000 rules": {head + rules(MaxRules), ""},
		"10,001 rules": {head + rules(MaxRules+1), "p.toml:40004:3: a policy has at most 10000 rules, this one has 10001"},
		"1 MiB":        {head + "#" + strings.Repeat("x", strict.MaxSize-len(head)-1), ""},
		"over 1 MiB":   {head + "#" + strings.Repeat("x", strict.MaxSize-len(head)), "p.toml:1:1: the file is larger than 1 MiB"},
		"a long glob": {
			head + "[[rule]]\nname = \"a\"\nmatch.source = [\"/" + strings.Repeat("x", maxGlob) + "\"]\naction = \"audit\"",
			"p.toml:6:17: glob is longer than 1024 bytes",
		},
		"a long name": {
			head + "[[rule]]\nname = \"" + strings.Repeat("x", maxName+1) + "\"\nmatch = {}\naction = \"audit\"",
			"p.toml:5:1: \"name\" is longer than 100 bytes",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			if _, err := Parse(File{"p.toml", []byte(test.text)}); err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("error %q, want %q", got, test.want)
			}
		})
	}
}

func TestPrefixesAreTheLiteralPartsOfSourceGlobs(t *testing.T) {
	p := parse(t, head+`[[rule]]
name = "a"
match.source = ["/data/**", "/data/", "/data/vol-*/x", "/a*/b", "${kubelet_root}/pods/*/volumes", "${runtime_root}"]
match.destination = ["/not/a/host/path"]
except.source = ["/data/keep", "${runtime_state}/x{y,z}"]
action = "audit"
`)
	got := p.Prefixes(Vars{KubeletRoot: "/kubelet/", RuntimeState: "/run/[odd]"})
	want := []string{"/", "/data", "/data/keep", "/kubelet/pods", "/run/[odd]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
