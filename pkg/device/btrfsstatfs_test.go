package device

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/mountward/mountward/pkg/internal/linux"
	"github.com/mountward/mountward/pkg/internal/linux/linuxtest"
)

const fsid = "00010203-0405-0607-1011-121314151617"

func TestABtrfsIsFoundByWhatStatfsTells(t *testing.T) {
	folded := [2]uint32{0x00010203 ^ 0x10111213, 0x04050607 ^ 0x14151617}
	const other = "10111213-1415-1617-0001-020304050607" // its halves the other way round: the same fold
	for name, test := range map[string]struct {
		mounted   []string
		folded    [2]uint32
		subvolume uint64
		want      string
	}{
		"the top":                {[]string{fsid}, [2]uint32{folded[0], folded[1] ^ 5}, 5, "dm-4"},
		"a subvolume":            {[]string{fsid}, [2]uint32{folded[0], folded[1] ^ 256}, 256, "dm-4"},
		"one with a large id":    {[]string{fsid}, [2]uint32{folded[0] ^ 7, folded[1] ^ 9}, 7<<32 | 9, "dm-4"},
		"another subvolume's":    {[]string{fsid}, [2]uint32{folded[0], folded[1] ^ 5}, 256, "none that is mounted has it"},
		"another file system's":  {[]string{fsid}, [2]uint32{1, 2}, 5, "none that is mounted has it"},
		"none is mounted":        {nil, [2]uint32{folded[0], folded[1] ^ 5}, 5, "no btrfs is mounted"},
		"nothing told":           {[]string{fsid}, [2]uint32{}, 5, "none that is mounted has it"},
		"two that fold the same": {[]string{fsid, other}, [2]uint32{folded[0], folded[1] ^ 5}, 5, fsid + " and " + other + " have it"},
		"beside another":         {[]string{"ff010203-0405-0607-1011-121314151617", fsid}, [2]uint32{folded[0], folded[1] ^ 5}, 5, "dm-4"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, "253:4 dm-4 dm=vg0-b uuid=LVM-{vg0}{b} > 8:0\n8:0 sda\n")
			f.announce(t, 1)
			for _, id := range test.mounted {
				f.btrfs(t, id, []string{"253:4"})
				f.write(t, filepath.Join(f.sys, "fs", "btrfs", "features", "raid56"), "0")
			}
			for _, resolver := range []interface {
				BtrfsByStatfs(folded [2]uint32, subvolume uint64) (Chain, error)
			}{f.FS(), NewCache(f.FS(), 8), NewCache(f.FS(), 8).Moment()} {
				c, err := resolver.BtrfsByStatfs(test.folded, test.subvolume)
				var got string
				if err != nil {
					got = err.Error()
				} else {
					got = c.Layers[0].Name
				}
				if !strings.HasSuffix(got, test.want) {
					t.Errorf("%T: %s, want %s", resolver, got, test.want)
				}
			}
		})
	}
}

func FuzzFold(f *testing.F) {
	f.Add([]byte("0123456789abcdef"), uint64(5))
	f.Fuzz(func(t *testing.T, id []byte, subvolume uint64) {
		if len(id) != 16 {
			return
		}
		text := formatFSID(id)
		if !isUUID(text) {
			t.Fatalf("%q is no uuid", text)
		}
		// Folding is its own inverse in the subvolume.
		plain, with := fold(text, 0), fold(text, subvolume)
		if got := uint64(plain[0]^with[0])<<32 | uint64(plain[1]^with[1]); got != subvolume {
			t.Errorf("subvolume %d comes out as %d", subvolume, got)
		}
	})
}

func formatFSID(id []byte) string {
	h := hex.EncodeToString(id)
	return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
}

// The kernel's own folding: of the top, of a subvolume and of a directory and a
// file in each, on one device and on two.
func TestTheKernelFoldsTheIDSo(t *testing.T) {
	for _, devices := range []int{1, 2} {
		t.Run(strconv.Itoa(devices), func(t *testing.T) { kernelFolds(t, devices) })
	}
}

func kernelFolds(t *testing.T, devices int) {
	nodes := linuxtest.Btrfs(t, devices)
	// A mount namespace of this thread's own; it ends with the test.
	runtime.LockOSThread()
	if err := syscall.Unshare(syscall.CLONE_NEWNS); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		t.Fatal(err)
	}
	top, sub := t.TempDir(), t.TempDir()
	list := ""
	for _, node := range nodes {
		list += "device=" + node + ","
	}
	mountBtrfs(t, nodes[0], top, strings.TrimSuffix(list, ","))
	linuxtest.Subvolume(t, top, "data")
	mountBtrfs(t, nodes[0], sub, list+"subvol=data")
	dir, err := os.Open(top)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	info, err := linux.Btrfs(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(sub+"/file", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	want, err := FS{Sys: "/sys"}.Btrfs(info.FSID, info.Devices)
	if err != nil {
		t.Fatal(err)
	}
	if info.Devices != devices || want.Tops != devices || want.Unknown != "" {
		t.Fatalf("%+v, %+v", info, want)
	}
	for path, subvolume := range map[string]uint64{top: 5, sub: subvolumeOf(t, sub), sub + "/file": subvolumeOf(t, sub), top + "/data": subvolumeOf(t, sub)} {
		var st syscall.Statfs_t
		if err := syscall.Statfs(path, &st); err != nil {
			t.Fatal(err)
		}
		folded := [2]uint32{uint32(st.Fsid.X__val[0]), uint32(st.Fsid.X__val[1])}
		if got := fold(info.FSID, subvolume); got != folded {
			t.Errorf("%s: %s of subvolume %d folds to %x, the kernel says %x", path, info.FSID, subvolume, got, folded)
		}
		got, err := FS{Sys: "/sys"}.BtrfsByStatfs(folded, subvolume)
		if err != nil || show(got) != show(want) {
			t.Errorf("%s: %v\n%s\nwant\n%s", path, err, show(got), show(want))
		}
		if got, err := (FS{Sys: "/sys"}).BtrfsByStatfs(folded, subvolume+1); err == nil {
			t.Errorf("%s by a subvolume that it is not: %+v", path, got)
		}
	}
}

func mountBtrfs(t *testing.T, node, dir, data string) {
	t.Helper()
	if err := syscall.Mount(node, dir, "btrfs", 0, data); err != nil {
		t.Fatalf("mount %s %s: %v", node, data, err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
}

// subvolumeOf reads the subvolid= that mountinfo shows.
func subvolumeOf(t *testing.T, dir string) uint64 {
	t.Helper()
	text, err := os.ReadFile("/proc/thread-self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if _, options, ok := strings.Cut(line, "subvolid="); ok && strings.Contains(line, " "+dir+" ") {
			number, _, _ := strings.Cut(strings.TrimSpace(options), ",")
			id, err := strconv.ParseUint(number, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return id
		}
	}
	t.Fatalf("no subvolid of %s in\n%s", dir, text)
	return 0
}
