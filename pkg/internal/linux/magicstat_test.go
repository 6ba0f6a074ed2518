package linux

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestStatMagicTellsWhatAnOpenFileIsOn, also of a removed one and through no
// path of its own.
func TestStatMagicTellsWhatAnOpenFileIsOn(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Remove(f.Name()); err != nil {
		t.Fatal(err)
	}
	var want unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &want); err != nil {
		t.Fatal(err)
	}
	id, err := MountID(f)
	if err != nil {
		t.Fatal(err)
	}
	got, err := StatMagic(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if got.Major != unix.Major(want.Dev) || got.Minor != unix.Minor(want.Dev) || got.MountID != id || got.Block {
		t.Errorf("%+v, want %d:%d and mount %d", got, unix.Major(want.Dev), unix.Minor(want.Dev), id)
	}
	if cwd, err := StatMagic("/proc/self/cwd"); err != nil || !cwd.Directory || got.Directory {
		t.Errorf("a directory: %+v, %v; a file: %+v", cwd, err, got)
	}
	if _, err := StatMagic("/proc/self/fd/99999"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no descriptor: %v", err)
	}
}

// TestStatMagicTellsABlockDevice by its own number; /dev/null is none.
func TestStatMagicTellsABlockDevice(t *testing.T) {
	nodes, err := filepath.Glob("/dev/loop[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range append(nodes[:min(1, len(nodes))], "/dev/null") {
		got, err := StatMagic(node)
		if err != nil {
			t.Fatal(err)
		}
		var st unix.Stat_t
		if err := unix.Stat(node, &st); err != nil {
			t.Fatal(err)
		}
		block := st.Mode&unix.S_IFMT == unix.S_IFBLK
		if got.Block != block || block && (got.BlockMajor != unix.Major(st.Rdev) || got.BlockMinor != unix.Minor(st.Rdev)) {
			t.Errorf("%s: %+v", node, got)
		}
	}
}
