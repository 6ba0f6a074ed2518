package linux

import (
	"bytes"
	"errors"
	"os"
	"testing"
)

func TestAHandleIsOfOneFile(t *testing.T) {
	dir := t.TempDir()
	handle := func(path string) (int32, []byte) {
		t.Helper()
		f, err := OpenPath(nil, path, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		kind, h, err := FileHandle(f)
		if errors.Is(err, ErrNotSupported) {
			t.Skip("needs Linux 6.6 or later: ", err)
		}
		if err != nil || len(h) == 0 {
			t.Fatalf("%s: %x %v", path, h, err)
		}
		return kind, h
	}
	for _, name := range []string{"/a", "/b"} {
		if err := os.Mkdir(dir+name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	kind, a := handle(dir + "/a")
	if k, same := handle(dir + "/b/../a"); k != kind || !bytes.Equal(a, same) {
		t.Errorf("another path of it: %d %x, want %d %x", k, same, kind, a)
	}
	if _, b := handle(dir + "/b"); bytes.Equal(a, b) {
		t.Errorf("another directory has the handle too: %x", b)
	}
}

func TestAFileSystemWithoutHandlesIsNotSupported(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	_ = r.Close()
	if _, h, err := FileHandle(r); err == nil || errors.Is(err, ErrNotSupported) {
		t.Errorf("a closed file: %x %v, want another error", h, err)
	}
	f, err := OpenPath(nil, "/proc/self/mountinfo", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	// procfs has no handles that can be opened; those that can be compared need 6.6.
	if _, h, err := FileHandle(f); err != nil && !errors.Is(err, ErrNotSupported) {
		t.Errorf("procfs: %x %v", h, err)
	}
}
