package hostview

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestStatTellsModeAndOwnerOfWhatALinkLeadsTo(t *testing.T) {
	v, err := Open(Options{Proc: "/proc", PID: os.Getpid()})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	dir := t.TempDir()
	file, link, fifo := filepath.Join(dir, "f"), filepath.Join(dir, "l"), filepath.Join(dir, "p")
	if err := os.WriteFile(file, nil, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("f", link); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]fs.FileMode{file: 0o640, link: 0o640, fifo: fs.ModeNamedPipe | 0o600, dir: fs.ModeDir | 0o755} {
		info, err := v.Stat(t.Context(), path)
		if err != nil || info.Mode() != want || info.Sys().(*syscall.Stat_t).Uid != uint32(os.Geteuid()) {
			t.Errorf("%s: %v, %v; want mode %v", path, info, err, want)
		}
	}
	if _, err := v.Stat(t.Context(), filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a path that leads nowhere: %v", err)
	}
}
