package policyfile

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMoreDropIns: they are read as if they lay in policy.d, in the order of
// their names and in place of one that has theirs.
func TestMoreDropIns(t *testing.T) {
	s, elsewhere := node(t), t.TempDir()
	write(t, s.Policy, "main")
	write(t, beside(s, "policy.d", "10-a.toml"), "a")
	write(t, beside(s, "policy.d", "30-c.toml"), "c")
	file := func(name, text string) string {
		path := filepath.Join(elsewhere, name)
		write(t, path, text)
		return path
	}
	second := filepath.Join(elsewhere, "second", "20-b.toml")
	write(t, second, "again")
	for _, test := range []struct {
		name    string
		dropIns []string
		want    string
		wantErr string
	}{
		{name: "none", want: "main a c"},
		{name: "between", dropIns: []string{file("20-b.toml", "b")}, want: "main a b c"},
		{name: "in any order", dropIns: []string{file("40-d.toml", "d"), file("05-z.toml", "z")}, want: "main z a c d"},
		{name: "a new version", dropIns: []string{file("10-a.toml", "new")}, want: "main new c"},
		{name: "two of one name", dropIns: []string{file("20-b.toml", "b"), second}, wantErr: "has the same name"},
		{name: "tests", dropIns: []string{file("x_test.toml", "t")}, wantErr: "named as the tests of a policy are"},
		{name: "another ending", dropIns: []string{file("x.conf", "t")}, wantErr: "does not end in .toml"},
		{name: "hidden", dropIns: []string{file(".x.toml", "t")}, wantErr: "hidden"},
		{name: "empty", dropIns: []string{file("e.toml", "")}, wantErr: "the file is empty"},
		{name: "missing", dropIns: []string{filepath.Join(elsewhere, "none.toml")}, wantErr: "no such file"},
		{name: "too much together", dropIns: []string{file("big1.toml", strings.Repeat("#", MaxSize/2)), file("big2.toml", strings.Repeat("#", MaxSize/2))}, wantErr: "big2.toml: the policy's files up to this one are larger than 1 MiB"},
		{name: "too much", dropIns: []string{file("big.toml", strings.Repeat("#", MaxSize-5))}, wantErr: "larger than 1 MiB"},
	} {
		t.Run(test.name, func(t *testing.T) {
			set, err := ReadWith(s.Policy, test.dropIns)
			wantError(t, err, test.wantErr)
			if err != nil {
				return
			}
			got := []string{string(set.Main.Data)}
			for _, f := range set.DropIns {
				got = append(got, string(f.Data))
			}
			if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestADropInHasItsChecksumBeforeItIsPutThere.
func TestADropInHasItsChecksumBeforeItIsPutThere(t *testing.T) {
	s, elsewhere := node(t), t.TempDir()
	write(t, s.Policy, "main")
	path := filepath.Join(elsewhere, "20-b.toml")
	write(t, path, "b")
	before, err := ReadWith(s.Policy, []string{path})
	must(t, err)
	write(t, beside(s, "policy.d", "20-b.toml"), "b")
	after, err := Read(s.Policy)
	must(t, err)
	if before.SHA256() != after.SHA256() {
		t.Errorf("%s before, %s after", before.SHA256(), after.SHA256())
	}
}
