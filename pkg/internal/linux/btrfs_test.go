package linux

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestDecodeBtrfs(t *testing.T) {
	b := make([]byte, btrfsFSInfoSize)
	binary.NativeEndian.PutUint64(b, 9) // the highest id, not the number
	binary.NativeEndian.PutUint64(b[8:], 2)
	for i := range 16 {
		b[16+i] = byte(i * 0x11)
	}
	want := BtrfsInfo{FSID: "00112233-4455-6677-8899-aabbccddeeff", Devices: 2}
	if got := decodeBtrfs(b); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestBtrfsIsAskedOfBtrfsOnly(t *testing.T) {
	dir, err := OpenPath(nil, "/proc", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if _, err := Btrfs(dir); !errors.Is(err, unix.ENOTTY) {
		t.Errorf("procfs: %v", err)
	}
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := OpenPath(nil, path, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := Btrfs(file); !errors.Is(err, unix.ENOTDIR) {
		t.Errorf("a file: %v", err)
	}
}
