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

func TestTheOptionsAreThoseOfMountinfo(t *testing.T) {
	buf := answer(HasMount|HasSuperblock|HasOptions, map[int]string{smOptions: "size=1k,mode=755"})
	binary.NativeEndian.PutUint64(buf[smAttributes:], unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|
		unix.MOUNT_ATTR_NOEXEC|unix.MOUNT_ATTR_NODIRATIME|unix.MOUNT_ATTR_NOSYMFOLLOW|unix.MOUNT_ATTR_IDMAP)
	binary.NativeEndian.PutUint32(buf[smSuperFlags:], unix.MS_RDONLY|unix.MS_SYNCHRONOUS|unix.MS_DIRSYNC|unix.MS_LAZYTIME)
	got, err := decodeOptions(buf, HasOptions)
	want := MountOptions{"ro,nosuid,nodev,noexec,nodiratime,relatime,nosymfollow,idmapped", "ro,sync,dirsync,lazytime,size=1k,mode=755"}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	for attributes, want := range map[uint64]string{
		unix.MOUNT_ATTR_NOATIME: "rw,noatime", unix.MOUNT_ATTR_STRICTATIME: "rw", 0: "rw,relatime",
	} {
		if got := mountOptions(attributes); got != want {
			t.Errorf("%x: %s, want %s", attributes, got, want)
		}
	}
	if got, err := decodeOptions(answer(HasMount, nil), 0); err != nil || got.Super != "rw" {
		t.Errorf("without options: %+v %v", got, err)
	}
}

func FuzzDecodeOptions(f *testing.F) {
	f.Add(answer(HasOptions, map[int]string{smOptions: "a=b"}), uint64(HasOptions))
	f.Add([]byte{}, uint64(0))
	f.Fuzz(func(t *testing.T, buf []byte, has uint64) {
		o, err := decodeOptions(buf, MountMask(has))
		if err == nil && (strings.ContainsRune(o.Super, 0) || !strings.HasPrefix(o.Super, "r") || !strings.HasPrefix(o.Mount, "r")) {
			t.Errorf("%+v", o)
		}
	})
}

func TestTheListHasTheMountsOfMountinfo(t *testing.T) {
	pid := otherNamespace(t)
	id, err := NamespaceID("/proc", pid)
	if errors.Is(err, ErrNotSupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	ids, err := ListMounts(id)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		want = append(want, fields[0]+" "+fields[5])
	}
	for _, mount := range ids {
		m, o, err := StatmountOptions(mount, id)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, strconv.Itoa(m.InfoID)+" "+o.Mount)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if ids, err := ListMounts(1 << 62); err == nil || !Gone(err) {
		t.Errorf("no such namespace: %v %v", ids, err)
	}
	if _, _, err := StatmountOptions(1<<62, id); !Gone(err) {
		t.Errorf("no such mount: %v", err)
	}
}
