//go:build linux

package guest

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestPinsByDevices: what holds a logical volume without a mount. Each is named,
// made to let go as it is printed, and explains how often the device is open.
func TestPinsByDevices(t *testing.T) {
	s := newStack(t)
	s.vg("vg0", s.loop("a", 640))
	for _, test := range []struct {
		name string
		run  func(*stack)
	}{
		{"a device of the device mapper", heldByLinear},
		{"a volume of another group", heldByGroup},
		{"an encrypted device", heldByCrypt},
		{"a loop device on it", heldByLoop},
		{"a loop device on a file of it", heldByLoopOnFile},
		{"swap", heldBySwap},
		{"a process that has it open", heldByOpen},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(s.on(t)) })
	}
}

// raw makes a logical volume without a file system.
func (s *stack) raw(lv string) *publishedLV {
	s.Helper()
	v := &publishedLV{stack: s, name: "vg0/" + lv, device: "/dev/vg0/" + lv}
	v.create("--size", "64M")
	return v
}

// kernelName is the name of a device in /sys/block.
func (s *stack) kernelName(device string) string {
	s.Helper()
	path, err := filepath.EvalSymlinks(device)
	if err != nil {
		s.Fatal(err)
	}
	return filepath.Base(path)
}

// later runs a program at the end of the test, where something may be gone
// already.
func (s *stack) later(name string, args ...string) {
	s.Cleanup(func() { _, _ = run(name, args...) })
}

func heldByLinear(s *stack) {
	v := s.raw("linear")
	s.do("dmsetup", "create", "node-linear", "--table", "0 2048 linear "+v.device+" 0")
	s.later("dmsetup", "remove", "node-linear")
	v.busy()
	r := s.pins(exitFound, v.name)
	s.heldBy(r, fmt.Sprintf("dm-holder kernel %s (node-linear)", s.kernelName("/dev/mapper/node-linear")))
	s.cured(r.Holders[0], "dmsetup remove ")
	v.free()
}

// heldByGroup: a volume that is a physical volume of another group.
func heldByGroup(s *stack) {
	const scan = "devices{scan_lvs=1}"
	v := s.raw("below")
	s.do("vgcreate", "--quiet", "--config", scan, "vg1", v.device)
	s.later("vgremove", "--quiet", "--force", "--yes", "--config", scan, "vg1")
	s.do("lvcreate", "--quiet", "--yes", "--config", scan, "--name", "data", "--size", "16M", "vg1")
	v.busy()
	r := s.pins(exitFound, v.name)
	s.heldBy(r, fmt.Sprintf("dm-holder kernel %s (vg1-data)", s.kernelName("/dev/vg1/data")))
	s.cured(r.Holders[0], "lvchange ")
	v.free()
}

func heldByCrypt(s *stack) {
	v := s.raw("crypt")
	key := filepath.Join(s.TempDir(), "key")
	s.write(key, strings.Repeat("k", 32))
	s.do("cryptsetup", "open", "--type", "plain", "--cipher", "aes-cbc-essiv:sha256", "--key-size", "256", "--key-file", key, v.device, "node-crypt")
	s.later("cryptsetup", "close", "node-crypt")
	v.busy()
	r := s.pins(exitFound, v.name)
	s.heldBy(r, fmt.Sprintf("dm-holder kernel %s (node-crypt)", s.kernelName("/dev/mapper/node-crypt")))
	s.cured(r.Holders[0], "cryptsetup close ")
	v.free()
}

func heldByLoop(s *stack) {
	v := s.raw("loop")
	loop := s.do("losetup", "--find", "--show", v.device)
	s.later("losetup", "--detach", loop)
	v.busy()
	r := s.pins(exitFound, v.name)
	s.holder(r, "loop")
	if len(r.Holders) != 1 || r.Holders[0].Device != filepath.Base(loop) {
		s.Errorf("holders %+v, want %s", r.Holders, loop)
	}
	s.cured(r.Holders[0], "losetup -d ")
	v.free()
}

// heldByLoopOnFile: the unmount is refused.
func heldByLoopOnFile(s *stack) {
	v := s.publish("pvc-1", uid(540), "ext4")
	file := filepath.Join(v.path, "image")
	s.do("truncate", "--size", "4M", file)
	loop := s.do("losetup", "--find", "--show", file)
	s.later("losetup", "--detach", loop)
	v.unmount(unix.EBUSY)
	r := s.pins(exitFound, v.name)
	h := s.holder(r, "loop")
	s.heldBy(r, "mount host leftover", h.String())
	if h.Device != filepath.Base(loop) || h.Path != file {
		s.Errorf("holder %+v, want %s on %s", h, loop, file)
	}
	s.cured(h, "losetup -d ")
	v.unmount(nil)
	v.free()
}

func heldBySwap(s *stack) {
	v := s.raw("swap")
	s.do("mkswap", "--quiet", v.device)
	s.do("swapon", v.device)
	s.later("swapoff", v.device)
	v.busy()
	r := s.pins(exitFound, v.name)
	h := s.holder(r, "swap")
	s.heldBy(r, h.String())
	if s.kernelName(h.Path) != s.kernelName(v.device) {
		s.Errorf("holder %+v, want the swap area %s", h, v.device)
	}
	s.cured(h, "swapoff ")
	v.free()
}

func heldByOpen(s *stack) {
	v := s.raw("open")
	process := s.holds(`exec 3<"$1" 4<"$1"`, v.device)
	v.busy()
	r := s.pins(exitFound, v.name)
	h := s.holder(r, "open-device")
	s.heldBy(r, h.String())
	if len(h.Processes) != 1 || h.Processes[0].PID != process.Process.Pid || len(h.Files) != 2 || r.Open.Count != 2 {
		s.Errorf("holder %+v with %+v, want the 2 descriptors of process %d", h, r.Open, process.Process.Pid)
	}
	if !strings.HasPrefix(h.Where, "host") {
		s.Errorf("where is %q", h.Where)
	}
	end(s, process)
	v.free()
}
