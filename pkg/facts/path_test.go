package facts

import "testing"

func TestBelowComparesComponents(t *testing.T) {
	for _, test := range []struct {
		p, parent, rest string
		ok              bool
	}{
		{"/data", "/data", "", true},
		{"/data/a/b", "/data", "a/b", true},
		{"/database", "/data", "", false},
		{"/data", "/data/a", "", false},
		{"/data", "/", "data", true},
		{"/", "/", "", true},
		{"/data", "", "", false},
		{"data", "/", "", false},
	} {
		rest, ok := Below(test.p, test.parent)
		if rest != test.rest || ok != test.ok || Within(test.p, test.parent) != test.ok {
			t.Errorf("Below(%q, %q) = %q, %v", test.p, test.parent, rest, ok)
		}
		if ok && JoinRoot(test.parent, rest) != test.p {
			t.Errorf("JoinRoot(%q, %q) = %q", test.parent, rest, JoinRoot(test.parent, rest))
		}
	}
}

func TestCleanAbs(t *testing.T) {
	for p, want := range map[string]string{"/a/../b//c/": "/b/c", "/": "/", "/../..": "/", "//x": "/x"} {
		if got, ok := CleanAbs(p); !ok || got != want {
			t.Errorf("CleanAbs(%q) = %q, %v", p, got, ok)
		}
	}
	for _, p := range []string{"", "a", "./a", "../a"} {
		if got, ok := CleanAbs(p); ok {
			t.Errorf("CleanAbs(%q) = %q: want none", p, got)
		}
	}
}
