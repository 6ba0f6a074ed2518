package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestReadRegular(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := ReadRegular(path, 5); err != nil || string(data) != "12345" {
		t.Errorf("%q, %v", data, err)
	}
	if data, err := ReadRegular(path, 4); !errors.Is(err, ErrLarger) || data != nil {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := ReadRegular(path+"x", 4); !errors.Is(err, fs.ErrNotExist) || err.Error() != "no such file or directory" {
		t.Error(err)
	}
	for _, other := range []string{"/dev/zero", "/dev/null", dir} {
		if _, err := ReadRegular(other, 10); err == nil {
			t.Errorf("%s was read", other)
		}
	}
}

func TestNames(t *testing.T) {
	dir := t.TempDir()
	if names, err := Names(dir, 0); err != nil || len(names) != 0 {
		t.Errorf("%q, %v", names, err)
	}
	for _, name := range []string{"b", "a", ".c"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if names, err := Names(dir, 3); err != nil || !slices.Equal(names, []string{".c", "a", "b"}) {
		t.Errorf("%q, %v", names, err)
	}
	if names, err := Names(dir, 2); err == nil {
		t.Errorf("more than may be: %q", names)
	}
	if _, err := Names(filepath.Join(dir, "a"), 2); err == nil {
		t.Error("a file has names")
	}
}
