package linux

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// reference opens a path as hostview does.
func reference(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := OpenPath(nil, path, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func TestWhatIsOpenForReferenceCanBeRead(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadRegular("/proc", reference(t, file), 4); err != nil || string(got) != "text" {
		t.Errorf("a file: %q %v", got, err)
	}
	if got, err := ReadRegular("/proc", reference(t, file), 3); err == nil || !strings.Contains(err.Error(), "larger than 3 bytes") {
		t.Errorf("a file of one byte more: %q %v", got, err)
	}
	for _, path := range []string{dir, filepath.Join(dir, "fifo"), "/dev/null"} {
		if got, err := ReadRegular("/proc", reference(t, path), 4); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: %q %v", path, got, err)
		}
	}
	names, err := ReadNames(reference(t, dir), 2)
	slices.Sort(names)
	if err != nil || !slices.Equal(names, []string{"fifo", "file"}) {
		t.Errorf("a directory: %q %v", names, err)
	}
	if names, err := ReadNames(reference(t, dir), 1); err == nil || names != nil {
		t.Errorf("a directory of one name more: %q %v", names, err)
	}
}

func TestFstatfsNeedsNoMoreThanAReference(t *testing.T) {
	for _, path := range []string{"/", "/proc", "/dev/null", t.TempDir()} {
		var st unix.Statfs_t
		if err := unix.Statfs(path, &st); err != nil {
			t.Fatal(err)
		}
		got, err := Fstatfs(reference(t, path))
		if err != nil || got.Type != st.Type || got.BlockSize != uint64(st.Bsize) || got.Blocks != st.Blocks || got.Files != st.Files {
			t.Errorf("%s: %+v %v, want %+v", path, got, err, st)
		}
	}
}

func TestOnlyABlockDeviceHasANumberOfOne(t *testing.T) {
	for _, path := range []string{"/", "/dev/null"} {
		if major, minor, err := BlockDevice(reference(t, path)); err == nil {
			t.Errorf("%s is block device %d:%d", path, major, minor)
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root: mknod")
	}
	node := filepath.Join(t.TempDir(), "node")
	if err := unix.Mknod(node, unix.S_IFBLK|0o600, int(unix.Mkdev(259, 70_000))); err != nil {
		t.Fatal(err)
	}
	if major, minor, err := BlockDevice(reference(t, node)); err != nil || major != 259 || minor != 70_000 {
		t.Errorf("%d:%d %v, want 259:70000", major, minor, err)
	}
}
