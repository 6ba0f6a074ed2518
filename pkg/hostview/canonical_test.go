package hostview

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestAPathIsToldWithoutItsLinks(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	mkdir(t, dir+"/real/kubelet")
	for link, target := range map[string]string{"/lib": "real", "/loop": "loop", "/absolute": dir + "/lib/kubelet"} {
		if err := os.Symlink(target, dir+link); err != nil {
			t.Fatal(err)
		}
	}
	v, err := Open(Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.Close() })
	for path, want := range map[string]string{
		"/":                         "/",
		dir + "/real//kubelet/":     dir + "/real/kubelet",
		dir + "/lib/kubelet":        dir + "/real/kubelet",
		dir + "/absolute":           dir + "/real/kubelet",
		dir + "/lib/kubelet/../..":  dir,
		dir + "/lib/../lib/kubelet": dir + "/real/kubelet",
	} {
		if got, err := v.Canonical(t.Context(), path); got != want || err != nil {
			t.Errorf("%s leads to %q, %v; want %q", path, got, err, want)
		}
	}
	for _, path := range []string{dir + "/none", dir + "/loop", "relative"} {
		got, err := v.Canonical(t.Context(), path)
		var cannot *CannotTell
		if got != "" || !errors.As(err, &cannot) {
			t.Errorf("%s leads to %q, %v; want that it cannot be told", path, got, err)
		}
		if errors.Is(err, fs.ErrNotExist) != (path == dir+"/none") {
			t.Errorf("%s: %v", path, err)
		}
	}
}
