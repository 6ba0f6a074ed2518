package file

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestGuarded(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/file", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Guarded(dir + "/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("none: %v", err)
	}
	if err := Guarded(dir + "/file"); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("a file: %v", err)
	}
	for mode, good := range map[os.FileMode]bool{0o700: true, 0o755: true, 0o775: false, 0o757: false, 0o777 | os.ModeSticky: false} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		if err := Guarded(dir); (err == nil) != good || !good && !strings.Contains(err.Error(), "chmod go-w "+dir) {
			t.Errorf("mode %v: %v", mode, err)
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root: a directory of another user")
	}
	if err := errors.Join(os.Chmod(dir, 0o700), os.Chown(dir, 65534, 0)); err != nil {
		t.Fatal(err)
	}
	if err := Guarded(dir); err == nil || !strings.Contains(err.Error(), "chown root "+dir) {
		t.Errorf("of another user: %v", err)
	}
}
