package policyfile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAFileThatLooksLikeADropInAndIsNoneIsNamed, and none that is one or that
// somebody put aside.
func TestAFileThatLooksLikeADropInAndIsNoneIsNamed(t *testing.T) {
	main := filepath.Join(t.TempDir(), "policy.toml")
	if got := Skipped(main); got != nil {
		t.Errorf("without a directory: %q", got)
	}
	dir := filepath.Join(filepath.Dir(main), "policy.d")
	for _, name := range []string{
		"10-a.toml", ".hidden.TOML", "10-a.toml~", "#10-a.toml#", "10-a.toml.bak", "10-a.toml.disabled", "10-a.toml.rpmsave", "10-a.toml.dpkg-old",
		"README", "README.md", "10-b.TOML", "10-c.tml", "10-d.conf", "10-e",
	} {
		write(t, filepath.Join(dir, name), "x")
	}
	must(t, os.Mkdir(filepath.Join(dir, "directory.TOML"), 0o755))
	must(t, os.Symlink("nowhere", filepath.Join(dir, "nowhere.TOML")))
	must(t, os.Symlink("10-b.TOML", filepath.Join(dir, "link.TOML")))
	want := []string{"10-b.TOML", "10-c.tml", "10-d.conf", "10-e", "link.TOML"}
	for i := range want {
		want[i] = filepath.Join(dir, want[i])
	}
	if diff := cmp.Diff(want, Skipped(main)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
