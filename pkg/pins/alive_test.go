package pins

import (
	"errors"
	"strings"
	"testing"

	"github.com/mountward/mountward/pkg/facts"
)

// TestWhatIsNotKnownToBeGoneIsNotFree: nothing was found, and whether the file
// system is alive decides.
func TestWhatIsNotKnownToBeGoneIsNotFree(t *testing.T) {
	const others = "nodev\ttmpfs\n\text4\n\terofs\n\tvfat\n"
	for name, test := range map[string]struct {
		filesystems, udev, sysfs string
		probe                    string
		err                      error
		opens                    int
		alive, answer            facts.Truth
	}{
		"all types leave a sign, and there is none": {filesystems: "\text4\n\txfs\n", alive: facts.No, answer: facts.No},
		"a type that leaves none can be on it":      {filesystems: others, alive: facts.Unknown, answer: facts.Unknown},
		"which types there are is not known":        {alive: facts.Unknown, answer: facts.Unknown},
		"udev knows a type that leaves a sign":      {filesystems: others, udev: "ext4", alive: facts.No, answer: facts.No},
		"udev knows a type that leaves none":        {filesystems: others, udev: "vfat", alive: facts.Unknown, answer: facts.Unknown},
		"udev knows a type that the kernel has not": {filesystems: others, udev: "iso9660", alive: facts.No, answer: facts.No},
		"what is on it leaves a sign":               {filesystems: others, probe: "xfs", alive: facts.No, answer: facts.No},
		"what is on it is not known":                {filesystems: others, err: errors.New("no answer"), alive: facts.Unknown, answer: facts.Unknown},
		"a type that nobody thought of has it":      {filesystems: others, udev: "ext4", sysfs: "sys/fs/newfs/loop1/x", alive: facts.Yes, answer: facts.Unknown},
		"an erofs has it":                           {filesystems: others, sysfs: "sys/fs/erofs/loop1/x", alive: facts.Yes, answer: facts.Unknown},
		"an erofs has not, where it would":          {filesystems: others, udev: "erofs", sysfs: "sys/fs/erofs/features/x", alive: facts.No, answer: facts.No},
		"an erofs before it left a sign":            {filesystems: others, udev: "erofs", alive: facts.Unknown, answer: facts.Unknown},
		"somebody made a directory of its name":     {filesystems: "\text4\n", sysfs: "sys/fs/bpf/loop1/x", alive: facts.No, answer: facts.No},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.file("proc/filesystems", test.filesystems)
			f.block("7:1", "loop1", nil)
			if test.sysfs != "" {
				f.file(test.sysfs, "")
			}
			if test.udev != "" {
				f.host.files["/run/udev/data/b7:1"] = "E:ID_FS_TYPE=" + test.udev + "\n"
			}
			if test.probe != "" || test.err != nil {
				f.fsType = func(string) (string, error) { return test.probe, test.err }
			}
			r := f.find("7:1")
			if r.Alive.Truth != test.alive || r.Answer() != test.answer || len(r.Holders) != 0 {
				t.Errorf("alive %v, answer %v, %q; want %v, %v", r.Alive, r.Answer(), told(r), test.alive, test.answer)
			}
		})
	}
}

// TestADeviceThatIsNotOpenIsFree, whatever is on it.
func TestADeviceThatIsNotOpenIsFree(t *testing.T) {
	f := newFixture(t)
	f.lv()
	f.file("proc/filesystems", "\tvfat\n")
	for opens, want := range map[int]facts.Truth{-1: facts.Unknown, 0: facts.No, 1: facts.Unknown} {
		f.opens = opens
		if r := f.find("vg0/pvc-1"); r.Answer() != want || (r.Alive.Truth == facts.No) != (opens == 0) {
			t.Errorf("open %d times: alive %v, answer %v, want %v", opens, r.Alive, r.Answer(), want)
		}
	}
}

// TestANumberThatNothingHasIsNoTarget: a wrong one. One that a table has is
// answered.
func TestANumberThatNothingHasIsNoTarget(t *testing.T) {
	f := newFixture(t)
	for _, number := range []string{"9999:1", "0:4711"} {
		r := f.find(number)
		if r.Answer() != facts.Unknown || len(r.Unknown) != 1 || !strings.HasPrefix(r.Unknown[0].Why, "no such target") {
			t.Errorf("%s: answer %v, unknown %v", number, r.Answer(), r.Unknown)
		}
	}
	f.namespace(4026532701, agent(), root+"903 851 9999:1 / /rootfs/x rw - ext4 gone rw\n904 851 0:4711 / /rootfs/y rw - tmpfs gone rw")
	for _, number := range []string{"9999:1", "0:4711"} {
		if r := f.find(number); r.Answer() != facts.Yes || len(r.Unknown) != 0 || r.Alive.Truth != facts.Yes {
			t.Errorf("%s: answer %v, alive %v, unknown %v", number, r.Answer(), r.Alive, r.Unknown)
		}
	}
}

// TestAMountedFileSystemIsAlive also where nothing holds the part that was asked
// about.
func TestAMountedFileSystemIsAlive(t *testing.T) {
	f := newFixture(t)
	f.tables[home][0] += "\n30 22 0:50 / /mem rw - tmpfs t rw"
	f.host.at["/mem/x"] = facts.HostMount{MountPoint: "/mem", Device: facts.DeviceNumber{Minor: 50}, Root: "/", FSType: "tmpfs"}
	if r := f.find("/mem/x"); r.Alive != facts.Is(true, "mount 30 of mnt:[4026531841]") || r.Answer() != facts.No {
		t.Errorf("alive %v, answer %v", r.Alive, r.Answer())
	}
}

// FuzzFSTypeOf: whatever is on a device, it is one of the types that leave a
// sign, or none.
func FuzzFSTypeOf(f *testing.F) {
	for offset, magic := range map[int]string{0: "XFSB", 1024: "\x10\x20\xf5\xf2", 1080: "\x53\xef", 0x10040: "_BHRfS_M"} {
		f.Add(append(make([]byte, offset), magic...))
	}
	f.Fuzz(func(t *testing.T, head []byte) {
		if got := fsTypeOf(head); got != "" && got != "erofs" && !signed(got) {
			t.Errorf("%q", got)
		}
	})
}

func TestFSTypeOf(t *testing.T) {
	at := func(offset int, magic string) []byte { return append(make([]byte, offset), magic...) }
	for want, head := range map[string][]byte{
		"xfs": at(0, "XFSB"), "f2fs": at(1024, "\x10\x20\xf5\xf2"), "erofs": at(1024, "\xe2\xe1\xf5\xe0"), "ext4": at(1080, "\x53\xef"),
		"btrfs": at(0x10040, "_BHRfS_M"), "": at(1024, "\x10\x20\xf5"),
	} {
		if got := fsTypeOf(head); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
