package policy

import (
	"testing"

	"github.com/mountward/mountward/pkg/facts"
)

// TestRulesAmongThemselvesDecideAsInAPolicyOfThem: the rules that are left out
// have no part in it, and the default is the policy's.
func TestRulesAmongThemselvesDecideAsInAPolicyOfThem(t *testing.T) {
	p, err := Parse(File{Name: "p.toml", Data: []byte(`version = 1
mode = "enforce"
default = "deny"
[[rule]]
name = "a"
match.source = ["/a/**", "${kubelet_root}"]
action = "allow"
[[rule]]
name = "b"
match.source = ["/a/b", "/c"]
action = "allow"
`)})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		source string
		places []int
		want   string
	}{
		{"/a/b", []int{0, 1}, "a"},
		{"/a/b", []int{1}, "b"},
		{"/a/b", []int{1, 0}, "b"},
		{"/c", []int{0}, ""},
		{"/k", []int{0}, "a"},
		{"/a/b", nil, ""},
	} {
		c := facts.Container{Mounts: []facts.Mount{{Source: test.source, Destination: "/d", Type: "bind"}}}
		d := p.Among(test.places).Decide(c, Env{Vars: Vars{KubeletRoot: "/k"}}, false)[0]
		if d.Rule != test.want || d.Rule == "" && d.Action != facts.ActionDeny {
			t.Errorf("%s among %v: rule %q, %s; want %q", test.source, test.places, d.Rule, d.Action, test.want)
		}
	}
}
