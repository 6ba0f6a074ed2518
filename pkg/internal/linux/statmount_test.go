package linux

import (
	"encoding/binary"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// answer builds what the kernel would write.
func answer(mask MountMask, strs map[int]string) []byte {
	buf := make([]byte, smStrings)
	binary.NativeEndian.PutUint64(buf[smMask:], uint64(mask))
	binary.NativeEndian.PutUint32(buf[smMajor:], 253)
	binary.NativeEndian.PutUint32(buf[smMinor:], 4)
	binary.NativeEndian.PutUint64(buf[smID:], 1<<33)
	binary.NativeEndian.PutUint32(buf[smInfoID:], 77)
	binary.NativeEndian.PutUint64(buf[smPropagation:], unix.MS_SHARED|unix.MS_SLAVE)
	binary.NativeEndian.PutUint64(buf[smPeerGroup:], 313)
	binary.NativeEndian.PutUint64(buf[smMaster:], 1)
	for at, s := range strs {
		binary.NativeEndian.PutUint32(buf[at:], uint32(len(buf)-smStrings))
		buf = append(append(buf, s...), 0)
	}
	return buf
}

func TestOnlyWhatTheKernelAnsweredIsKnown(t *testing.T) {
	strs := map[int]string{smRoot: "/a b", smMountPoint: "/m", smFSType: "fuse", smFSSubtype: "s3fs", smSBSource: "bucket\xff"}
	all, err := decodeMount(answer(wanted, strs))
	want := Mount{
		ID: 1 << 33, InfoID: 77, Major: 253, Minor: 4, Shared: true, PeerGroup: 313, Master: 1,
		Root: "/a b", MountPoint: "/m", FSType: "fuse", FSSubtype: "s3fs", Source: "bucket\xff", Has: wanted,
	}
	if diff := cmp.Diff(want, all); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	old, err := decodeMount(answer(HasSuperblock|HasFSType, strs))
	want = Mount{Major: 253, Minor: 4, FSType: "fuse", Has: HasSuperblock | HasFSType}
	if diff := cmp.Diff(want, old); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

func FuzzDecodeMount(f *testing.F) {
	f.Add(answer(wanted, map[int]string{smRoot: "/", smFSType: "xfs"}))
	f.Add(answer(wanted, nil))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, buf []byte) {
		m, err := decodeMount(buf)
		if err != nil {
			return
		}
		for _, s := range []string{m.Root, m.MountPoint, m.FSType, m.FSSubtype, m.Source} {
			if strings.ContainsRune(s, 0) || len(s) > len(buf)-smStrings {
				t.Errorf("%q is no string of the answer", s)
			}
		}
	})
}

func TestStatmountTellsWhatMountinfoTells(t *testing.T) {
	f, err := OpenPath(nil, "/proc", NoMagicLinks)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	id, err := UniqueMountID(f)
	if errors.Is(err, ErrNotSupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	m, err := Statmount(id, 0)
	if err != nil {
		t.Fatal(err)
	}
	old, err := MountID(f)
	if err != nil || old != m.InfoID || id != m.ID || m.FSType != "proc" || m.MountPoint != "/proc" || m.Root != "/" {
		t.Errorf("mountinfo id %d, unique id %d: %+v %v", old, id, m, err)
	}
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	if want := strconv.Itoa(old) + " "; !strings.Contains("\n"+string(text), "\n"+want) {
		t.Errorf("mount %d is not in mountinfo", old)
	}
	if _, err := Statmount(1<<62, 0); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no such mount: %v", err)
	}
}
