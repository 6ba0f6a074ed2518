package policy

import (
	"testing"

	"github.com/mountward/mountward/pkg/facts"
)

func TestPathGlobs(t *testing.T) {
	vars := Vars{KubeletRoot: "/var/lib/kubelet/", RuntimeState: "/run/{odd},*", RuntimeRoot: "/"}
	tests := []struct {
		glob    string
		matches []string
		not     []string
	}{
		{"/", []string{"/"}, []string{"/data"}},
		{"/**", []string{"/", "/data", "/data/a/b"}, nil},
		{"/*", []string{"/data"}, []string{"/", "/data/a"}},
		{"/data", []string{"/data"}, []string{"/", "/data/a", "/database", "/dat"}},
		{"/data/", []string{"/data"}, []string{"/data/a"}},
		{"//data/./x", []string{"/data/x"}, []string{"/data"}},
		{"/data/**", []string{"/data", "/data/a", "/data/a/b", "/data/.a"}, []string{"/", "/database", "/database/a"}},
		{"/data/**/**", []string{"/data", "/data/a/b"}, []string{"/database"}},
		{"/data/*", []string{"/data/a", "/data/.a"}, []string{"/data", "/data/a/b"}},
		{"/data/**/*", []string{"/data/a", "/data/a/b"}, []string{"/data"}},
		{"/data/**/x", []string{"/data/x", "/data/a/x", "/data/a/b/x"}, []string{"/data", "/data/a/xx"}},
		{"/d*ta/**", []string{"/data", "/dta/x"}, []string{"/", "/d/ta"}},
		{"/da*/**", []string{"/da", "/data/a"}, []string{"/d", "/"}},
		{"/{da,x}*/**", []string{"/da", "/x/a", "/data/a"}, []string{"/d", "/a/da"}},
		{"/d?*/**/**", []string{"/da", "/da/a"}, []string{"/d"}},
		{"/data/vol-?", []string{"/data/vol-1"}, []string{"/data/vol-12", "/data/vol-"}},
		{"/data/{a,b/c}/**", []string{"/data/a", "/data/b/c/d"}, []string{"/data/b", "/data"}},
		{"/data/[!a]", []string{"/data/b"}, []string{"/data/a", "/data/bb"}},
		{`/data/\*`, []string{"/data/*"}, []string{"/data/a"}},
		{"/da$ta", []string{"/da$ta"}, []string{"/data"}},
		{"${kubelet_root}", []string{"/var/lib/kubelet"}, []string{"/var/lib/kubelet/pods", "/"}},
		{"${kubelet_root}/**", []string{"/var/lib/kubelet", "/var/lib/kubelet/pods"}, []string{"/var/lib/kubelet2"}},
		{"/host${kubelet_root}/pods", []string{"/host/var/lib/kubelet/pods"}, []string{"/var/lib/kubelet/pods"}},
		{"/*/${kubelet_root}/p*", []string{"/a/var/lib/kubelet/pods"}, []string{"/a/b/var/lib/kubelet/pods"}},
		{"${runtime_state}/a", []string{"/run/{odd},*/a"}, []string{"/run/odd/a", "/run/x/a"}},
		{"/*${runtime_state}/a", []string{"/x/run/{odd},*/a"}, []string{"/x/run/odd,y/a"}},
		{"/{x,y${runtime_state}}/a", []string{"/x/a", "/y/run/{odd},*/a"}, []string{"/y/run/{odd}/a", "/y/run/odd,z/a"}},
		{"${runtime_root}/a/**", []string{"/a", "/a/b"}, []string{"/"}},
	}
	for _, test := range tests {
		g, err := newPathGlob(test.glob)
		if err != nil {
			t.Error(err)
			continue
		}
		b := (&Policy{globs: []*pathGlob{g}}).bind(Env{Vars: vars})
		for _, p := range test.matches {
			if !b.glob(g).spelled(p) {
				t.Errorf("%s must match %s", test.glob, p)
			}
		}
		for _, p := range test.not {
			if b.glob(g).spelled(p) {
				t.Errorf("%s must not match %s", test.glob, p)
			}
		}
	}
}

func TestNameGlobs(t *testing.T) {
	tests := []struct {
		glob, name string
		want       bool
	}{
		{"a", "a", true},
		{"a", "ab", false},
		{"a", "A", false},
		{"*", "", true},
		{"*", "any", true},
		{"*", "with/slash", true},
		{"w*", "with/slash", true},
		{"with/*", "with/slash", true},
		{"**", "any", true},
		{"{a,b}-*", "b-1", true},
		{"{a,b}-*", "c-1", false},
		{"", "", true},
		{"", "a", false},
		{"*", "\xff\n", true},
	}
	for _, test := range tests {
		g, err := newNameGlob(test.glob)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := g.match(test.name); got != test.want {
			t.Errorf("%q on %q: %v, want %v", test.glob, test.name, got, test.want)
		}
	}
}

// A prefix that is not known must neither match everything nor be forgotten.
func TestVariablesWithoutAValueAreUnknown(t *testing.T) {
	text := head + "[[rule]]\nname = \"a\"\nmatch.%s = [\"${kubelet_root}/**\"]\naction = \"%s\"\n"
	for _, test := range []struct {
		key, value string
		action     facts.Action
		rule       string
	}{
		{"source", "", facts.ActionDeny, "a"},
		{"source", "", facts.ActionAllow, ""},
		{"source", "relative", facts.ActionDeny, "a"},
		{"destination", "", facts.ActionDeny, "a"},
		{"destination", "", facts.ActionAllow, ""},
		{"destination", "/elsewhere", facts.ActionDeny, ""},
	} {
		d := decideOne(t, sprintf(text, test.key, test.action), Env{Vars: Vars{KubeletRoot: test.value}}, bind("/etc", "/x", "rprivate"))
		if d.Rule != test.rule || (len(d.Unknown) == 0) != (test.value == "/elsewhere") {
			t.Errorf("%s, kubelet root %q, %s: rule %q, unknown %q", test.key, test.value, test.action, d.Rule, d.Unknown)
		}
	}
}
