package hostview

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
)

// write makes a file with so many bytes.
func write(t testing.TB, path string, size int) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(strings.Repeat("x", size)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func mknod(t *testing.T, path string, mode uint32, device int) {
	t.Helper()
	if err := syscall.Mknod(path, mode|0o600, device); err != nil {
		t.Fatal(err)
	}
}

// refused checks that an error is one that cannot tell, for a reason.
func refused(t *testing.T, what string, err error, why string) {
	t.Helper()
	var cannot *CannotTell
	if !errors.As(err, &cannot) || !strings.Contains(cannot.Why, why) {
		t.Errorf("%s: %v, want cannot tell with %q", what, err, why)
	}
}

func TestAFileIsReadUpToABound(t *testing.T) {
	dir := stage(t)
	for _, size := range []int{0, 1, 4096, 4097, 100_000} {
		write(t, dir+"/file", size)
		if err := os.Symlink("file", dir+"/link"); err != nil && !errors.Is(err, fs.ErrExist) {
			t.Fatal(err)
		}
		v := openView(t, Options{})
		for _, path := range []string{dir + "/file", dir + "/link", dir + "/./link"} {
			for _, limit := range []int{size, size + 1, 1 << 20} {
				if got, err := v.ReadFile(context.Background(), path, limit); err != nil || string(got) != strings.Repeat("x", size) {
					t.Errorf("%s of %d bytes, at most %d: %d bytes, %v", path, size, limit, len(got), err)
				}
			}
			if size > 0 {
				_, err := v.ReadFile(context.Background(), path, size-1)
				refused(t, path, err, "larger than")
			}
		}
	}
}

// Files of procfs say that they are empty.
func TestAFileThatIsLargerThanItSaysIsReadUpToTheBound(t *testing.T) {
	v := openView(t, Options{})
	whole, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	path := "/proc/" + pidOf(t) + "/mountinfo"
	if got, err := v.ReadFile(context.Background(), path, len(whole)); err != nil || string(got) != string(whole) {
		t.Errorf("%d bytes, %v, want %d", len(got), err, len(whole))
	}
	_, err = v.ReadFile(context.Background(), path, len(whole)-1)
	refused(t, path, err, "larger than")
}

func pidOf(t *testing.T) string {
	t.Helper()
	pid, err := os.Readlink("/proc/self")
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func TestOnlyARegularFileIsOpened(t *testing.T) {
	dir := stage(t)
	write(t, dir+"/file", 1)
	mknod(t, dir+"/fifo", syscall.S_IFIFO, 0)
	mknod(t, dir+"/null", syscall.S_IFCHR, 1<<8|3)
	mknod(t, dir+"/disk", syscall.S_IFBLK, 4094<<8|255)
	mknod(t, dir+"/socket", syscall.S_IFSOCK, 0)
	watch, err := syscall.InotifyInit1(syscall.IN_NONBLOCK | syscall.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(watch)
	opened := func() bool {
		var events [4096]byte
		n, err := syscall.Read(watch, events[:])
		if err != nil && !errors.Is(err, syscall.EAGAIN) {
			t.Fatal(err)
		}
		return n > 0
	}
	v := openView(t, Options{})
	for _, name := range []string{"fifo", "null", "disk", "socket", "file"} {
		if _, err := syscall.InotifyAddWatch(watch, dir+"/"+name, syscall.IN_OPEN); err != nil {
			t.Fatal(err)
		}
		_, err := v.ReadFile(context.Background(), dir+"/"+name, 10)
		if name == "file" {
			if err != nil || !opened() {
				t.Errorf("a file: %v; if that is nil, it was read without being opened", err)
			}
			continue
		}
		refused(t, name, err, "not a regular file")
		if opened() {
			t.Errorf("%s was opened", name)
		}
	}
	_, err = v.ReadFile(context.Background(), dir, 10)
	refused(t, "a directory", err, "not a regular file")
}

func TestADirectoryIsListedUpToABound(t *testing.T) {
	dir := stage(t)
	mkdir(t, dir+"/d")
	v := openView(t, Options{})
	var want []string
	for _, name := range []string{"", "b", "\xff", "a b", "..c"} {
		if name != "" {
			write(t, dir+"/d/"+name, 0)
			want = append(want, name)
		}
		if got, err := v.ReadDir(context.Background(), dir+"/d", len(want)); err != nil || len(got) != len(want) {
			t.Errorf("%q, %v, want %d", got, err, len(want))
		}
	}
	if got, err := v.ReadDir(context.Background(), dir+"/d/../d", 100); err != nil || !cmp.Equal(got, []string{"..c", "a b", "b", "\xff"}) {
		t.Errorf("%q, %v, want them sorted", got, err)
	}
	_, err := v.ReadDir(context.Background(), dir+"/d", len(want)-1)
	refused(t, "one more", err, "more than 3 entries")
	_, err = v.ReadDir(context.Background(), dir+"/d/b", 100)
	refused(t, "a file", err, "not a directory")
}

func TestABlockDeviceIsKnownByItsNode(t *testing.T) {
	dir := stage(t)
	// Minors of more than eight bits lie in two places.
	mknod(t, dir+"/disk", syscall.S_IFBLK, 259<<8|0x34|0x12<<20)
	if err := os.Symlink(dir+"/disk", dir+"/link"); err != nil {
		t.Fatal(err)
	}
	write(t, dir+"/file", 0)
	mount(t, dir+"/disk", write(t, dir+"/bound", 0), "", syscall.MS_BIND, "")
	mknod(t, dir+"/null", syscall.S_IFCHR, 1<<8|3)
	v := openView(t, Options{})
	for _, name := range []string{"/disk", "/link", "/bound"} {
		want := facts.DeviceNumber{Major: 259, Minor: 0x1234}
		if got, err := v.BlockNumber(context.Background(), dir+name); err != nil || got != want {
			t.Errorf("%s: %v %v, want %v", name, got, err, want)
		}
	}
	for _, name := range []string{"/file", "/null", "/"} {
		got, err := v.BlockNumber(context.Background(), dir+name)
		refused(t, name, err, "not a block device")
		if !got.IsZero() {
			t.Errorf("%s has the number %v", name, got)
		}
	}
}

func TestAFileSystemTellsWhatStatfsDoes(t *testing.T) {
	dir := stage(t)
	write(t, dir+"/file", 1)
	v := openView(t, Options{})
	for _, path := range []string{"/", "/proc", dir, dir + "/file"} {
		var st syscall.Statfs_t
		if err := syscall.Statfs(path, &st); err != nil {
			t.Fatal(err)
		}
		want := Statfs{
			Type: st.Type, BlockSize: uint64(st.Bsize), Blocks: st.Blocks, Files: st.Files,
			FSID: [2]uint32{uint32(st.Fsid.X__val[0]), uint32(st.Fsid.X__val[1])},
		}
		if got, err := v.Statfs(context.Background(), path); err != nil || got != want {
			t.Errorf("%s: %+v %v, want %+v", path, got, err, want)
		}
	}
}

// questions are all that is asked of one path but Lookup.
var questions = map[string]func(ctx context.Context, v *View, path string) error{
	"ReadFile":    func(ctx context.Context, v *View, path string) error { _, err := v.ReadFile(ctx, path, 1); return err },
	"ReadDir":     func(ctx context.Context, v *View, path string) error { _, err := v.ReadDir(ctx, path, 1); return err },
	"BlockNumber": func(ctx context.Context, v *View, path string) error { _, err := v.BlockNumber(ctx, path); return err },
	"Statfs":      func(ctx context.Context, v *View, path string) error { _, err := v.Statfs(ctx, path); return err },
	"Btrfs":       func(ctx context.Context, v *View, path string) error { _, err := v.Btrfs(ctx, path); return err },
}

func TestWhatIsNotThereCannotBeTold(t *testing.T) {
	dir := stage(t)
	if err := os.Symlink("absent", dir+"/dangling"); err != nil {
		t.Fatal(err)
	}
	v := openView(t, Options{})
	for name, question := range questions {
		for _, path := range []string{dir + "/absent", dir + "/absent/x", dir + "/dangling"} {
			err := question(context.Background(), v, path)
			refused(t, name, err, "no such file")
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %v does not match fs.ErrNotExist", name, err)
			}
		}
		refused(t, name, question(context.Background(), v, "relative"), "not an absolute path")
		// A link of procfs leads anywhere, also into another mount namespace.
		refused(t, name, question(context.Background(), v, "/proc/self/root/etc"), "too many levels of symbolic links")
		refused(t, name, question(context.Background(), &View{walkErr: fs.ErrPermission}, dir), "permission denied")
	}
}

func TestFilesAreThoseOfTheRuntimesNamespace(t *testing.T) {
	dir := stage(t)
	at := mkdir(t, dir+"/at")
	v := openView(t, Options{PID: holder(t, at).Pid})
	ctx := context.Background()
	if got, err := v.ReadDir(ctx, at, 9); err != nil || !cmp.Equal(got, []string{"link", "sub"}) {
		t.Errorf("directory: %q %v", got, err)
	}
	if got, err := v.ReadFile(ctx, at+"/link/file", 9); err != nil || string(got) != "held" {
		t.Errorf("file: %q %v", got, err)
	}
	const tmpfs = 0x01021994
	if got, err := v.Statfs(ctx, at+"/sub"); err != nil || got.Type != tmpfs {
		t.Errorf("file system: %+v %v", got, err)
	}
	if got, err := openView(t, Options{}).ReadFile(ctx, at+"/link/file", 9); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("our own namespace has it: %q %v", got, err)
	}
}
