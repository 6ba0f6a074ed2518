package learn

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
)

// TestRulesAreInOrder by namespace, workload, container and propagation, and those
// that differ in the container alone are one.
func TestRulesAreInOrder(t *testing.T) {
	slave := func(path string) facts.Mount { return bind(path, path, facts.Slave) }
	b := newBook(Seen{Vars: node, Containers: []facts.Container{
		running("b", "a", "c", slave("/a")),
		running("a", "q", "c", slave("/a")),
		running("a", "p-0", "c", slave("/a")),
		running("a", "p", "z", slave("/a"), slave("/b")),
		running("a", "p", "y", bind("/c", "/c", facts.Unset), bind("/d", "/d", facts.Shared), slave("/c"), slave("/e"), bind("/f", "/f", facts.Unset)),
		running("a", "p", "x", slave("/b"), slave("/a")),
		running("a", "p", "w", slave("/a")),
	}})
	var got []string
	for _, r := range b.rules() {
		got = append(got, fmt.Sprintf("%s | %s | %s | %s | %s", r.name, r.of.pods, strings.Join(r.containers, " "), strings.Join(r.sources, " "), strings.Join(r.kinds.words(), " ")))
	}
	want := []string{
		"a/p: w: slave | p | w | /a | slave",
		"a/p: x,z: slave | p | x z | /a /b | slave",
		"a/p: y: unset | p | y | /f | unset",
		"a/p: y: slave | p | y | /e | slave",
		"a/p: y: slave-11e8a56b | p | y | /c | slave unset",
		"a/p: y: shared | p | y | /d | shared slave unset",
		"a/p: c: slave | p-[0-9]* | c | /a | slave",
		"a/q: c: slave | q | c | /a | slave",
		"b/a: c: slave | a | c | /a | slave",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestARulesNameCanBeShownAndIsItsOwn: what had to be changed for that ends in the
// checksum of what it was.
func TestARulesNameCanBeShownAndIsItsOwn(t *testing.T) {
	long := strings.Repeat("x", 200)
	taken := map[string]bool{}
	for _, test := range []struct{ text, want string }{
		{"a b~!", "a b~!"},
		{"a b~!", "a b~!-f26bccd1"},
		{"a b~!", "a b~!-f26bccd1+"},
		{"a b~!", "a b~!-f26bccd1++"},
		{"a\x1fb", "a_b-f04cdced"},
		{"a\x7fb", "a_b-4ef99256"},
		{"aüb", "a_b-5b498aff"},
		{`a"b`, "a_b-39a01277"},
		{`a\b`, "a_b-c62016d0"},
		{long[:90], long[:90]},
		{long[:91], long[:81] + "-87b88e4e"},
	} {
		if got := unique(taken, test.text); got != test.want {
			t.Errorf("%q: %q, want %q", test.text, got, test.want)
		}
	}
}
