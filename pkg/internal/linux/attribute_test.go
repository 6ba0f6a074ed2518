package linux

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
)

func TestReadAttribute(t *testing.T) {
	path := t.TempDir()
	for name, text := range map[string]string{"empty": "", "a": "text\n", "long": strings.Repeat("x", 5000)} {
		if err := os.WriteFile(path+"/"+name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(path+"/sub", 0o700); err != nil {
		t.Fatal(err)
	}
	dir, err := OpenPath(nil, path, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	for name, want := range map[string]string{"empty": "", "a": "text\n", "sub/../a": "text\n", "long": strings.Repeat("x", 4096)} {
		if got, err := ReadAttribute(dir, name); err != nil || got != want {
			t.Errorf("%s = %q %v", name, got, err)
		}
	}
	if got, err := ReadAttribute(nil, path+"/a"); err != nil || got != "text\n" {
		t.Errorf("by its path: %q %v", got, err)
	}
	if _, err := ReadAttribute(dir, "sub/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("none: %v", err)
	}
	if _, err := ReadAttribute(dir, "sub"); err == nil {
		t.Error("a directory was read")
	}
	if _, err := OpenDirectory(dir, "a"); err == nil {
		t.Error("a file was opened as a directory")
	}
	sub, err := OpenDirectory(dir, "sub")
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	if names, err := sub.Readdirnames(-1); err != nil || len(names) != 0 {
		t.Errorf("%q %v", names, err)
	}
}
