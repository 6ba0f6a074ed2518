package device

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mountward/mountward/pkg/facts"
)

// A fixture is a text that says what a node's sysfs has. A device is a line of
// its number, its kernel name (a partition's with its disk's before it), its
// attributes and, after ">", the devices it is built of:
//
//	253:4 dm-4 dm=vg0-pvc--1 uuid=LVM-{vg0}{pvc-1} > 8:1
//	8:1 sda/sda1 partition
//	8:0 sda
//	7:0 loop0 file=/img
//
// {x} is x filled up to the 32 characters of an LVM id. What the ioctl of a
// loop device answers is a line of its own, with file=, block= or error=, and so
// is a btrfs file system: its id, its devices, and after "missing" the ids of
// those it lacks.
//
//	ioctl loop0 file=253:4
//	btrfs 00000000-0000-0000-0000-000000000001 253:4 253:5 missing 3
type fixture struct {
	sys   string
	loops map[string]func() (LoopStatus, error)
	names map[facts.DeviceNumber]string // path below <sys>/devices
}

func newFixture(t testing.TB, text string) *fixture {
	t.Helper()
	f := &fixture{sys: t.TempDir(), loops: map[string]func() (LoopStatus, error){}, names: map[facts.DeviceNumber]string{}}
	var lines [][]string
	for s := bufio.NewScanner(strings.NewReader(text)); s.Scan(); {
		words := strings.Fields(s.Text())
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		lines = append(lines, words)
		if words[0] != "ioctl" && words[0] != "btrfs" {
			f.names[parse(t, words[0])] = words[1]
		}
	}
	for _, words := range lines {
		switch words[0] {
		case "ioctl":
			f.ioctl(t, words[1], words[2:])
		case "btrfs":
			f.btrfs(t, words[1], words[2:])
		default:
			f.device(t, parse(t, words[0]), words[2:])
		}
	}
	return f
}

// FS resolves in the fixture.
func (f *fixture) FS() FS {
	return FS{Sys: f.sys, Loop: func(name string) (LoopStatus, error) {
		if answer := f.loops[name]; answer != nil {
			return answer()
		}
		return LoopStatus{}, fmt.Errorf("no answer of %s in the fixture", name)
	}}
}

var filled = regexp.MustCompile(`\{([^}]*)\}`)

func (f *fixture) device(t testing.TB, number facts.DeviceNumber, words []string) {
	t.Helper()
	dir := f.dir(number)
	f.write(t, filepath.Join(dir, "dev"), number.String())
	f.write(t, filepath.Join(dir, "uevent"), "MAJOR="+number.String())
	f.link(t, dir, filepath.Join(f.sys, "dev", "block", number.String()))
	for i, word := range words {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "dm":
			f.write(t, filepath.Join(dir, "dm", "name"), value)
			f.write(t, filepath.Join(dir, "dm", "uuid"), "")
		case "uuid":
			f.write(t, filepath.Join(dir, "dm", "uuid"), filled.ReplaceAllStringFunc(value, func(s string) string {
				return id(strings.Trim(s, "{}"))
			}))
		case "partition":
			f.write(t, filepath.Join(dir, "partition"), "1")
		case "file":
			f.write(t, filepath.Join(dir, "loop", "backing_file"), value)
		case "level":
			f.write(t, filepath.Join(dir, "md", "level"), value)
		case ">":
			for _, slave := range words[i+1:] {
				lower := f.dir(parse(t, slave))
				f.link(t, lower, filepath.Join(dir, "slaves", filepath.Base(lower)))
			}
			return
		default:
			t.Fatalf("attribute %q of %s", word, number)
		}
	}
}

// dir is the directory of a device; one that the fixture does not have is
// where nothing is.
func (f *fixture) dir(number facts.DeviceNumber) string {
	name, ok := f.names[number]
	if !ok {
		name = "gone-" + number.String()
	}
	return filepath.Join(f.sys, "devices", name)
}

func (f *fixture) ioctl(t testing.TB, name string, words []string) {
	t.Helper()
	var s LoopStatus
	var err error
	for _, word := range words {
		switch key, value, _ := strings.Cut(word, "="); key {
		case "file":
			s.File = parse(t, value)
		case "block":
			s.Block = parse(t, value)
		case "error":
			err = errors.New(strings.ReplaceAll(value, "_", " "))
		default:
			t.Fatalf("answer %q of %s", word, name)
		}
	}
	f.loops[name] = func() (LoopStatus, error) { return s, err }
}

func (f *fixture) btrfs(t testing.TB, fsid string, words []string) {
	t.Helper()
	dir := filepath.Join(f.sys, "fs", "btrfs", fsid)
	for i, word := range words {
		if word == "missing" {
			for _, id := range words[i+1:] {
				f.write(t, filepath.Join(dir, "devinfo", id, "missing"), "1")
			}
			return
		}
		lower := f.dir(parse(t, word))
		f.link(t, lower, filepath.Join(dir, "devices", filepath.Base(lower)))
		f.write(t, filepath.Join(dir, "devinfo", fmt.Sprint(i+1), "missing"), "0")
	}
}

// remove takes a device out.
func (f *fixture) remove(t testing.TB, number facts.DeviceNumber) {
	t.Helper()
	for _, path := range []string{f.dir(number), filepath.Join(f.sys, "dev", "block", number.String())} {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
}

// announce sets the count of the kernel's events.
func (f *fixture) announce(t testing.TB, events int) {
	t.Helper()
	f.write(t, filepath.Join(f.sys, "kernel", "uevent_seqnum"), fmt.Sprint(events))
}

func (f *fixture) write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) link(t testing.TB, target, path string) {
	t.Helper()
	relative, err := filepath.Rel(filepath.Dir(path), target)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(relative, path); err != nil {
		t.Fatal(err)
	}
}

// id fills a name up to the length of an LVM id.
func id(name string) string {
	name = strings.ReplaceAll(name, "-", "")
	return name + strings.Repeat("0", uuidLength-len(name))
}

func parse(t testing.TB, text string) facts.DeviceNumber {
	t.Helper()
	var n facts.DeviceNumber
	if err := n.UnmarshalText([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return n
}
