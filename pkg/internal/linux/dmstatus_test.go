package linux

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestARequestToTheDeviceMapper has the layout of struct dm_ioctl.
func TestARequestToTheDeviceMapper(t *testing.T) {
	request := encodeDM(253, 0x12345)
	u32 := func(at int) uint32 { return binary.NativeEndian.Uint32(request[at:]) }
	if len(request) != 312 || u32(0) != 4 || u32(4) != 0 || u32(8) != 0 || u32(12) != 312 {
		t.Errorf("%x", request)
	}
	// huge_encode_dev: the low byte of the minor, the major, the rest.
	if got, want := binary.NativeEndian.Uint64(request[40:]), uint64(0x12300000|253<<8|0x45); got != want {
		t.Errorf("device %#x, want %#x", got, want)
	}
}

func TestOpenCountWithoutADeviceMapper(t *testing.T) {
	dev := t.TempDir()
	if _, err := DMOpenCount(dev, 253, 7); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no control node: %v", err)
	}
	if err := os.Mkdir(filepath.Join(dev, "mapper"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dev, "mapper", "control"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := DMOpenCount(dev, 253, 7); !errors.Is(err, syscall.ENOTTY) {
		t.Errorf("a file that is no control node: %d, %v", n, err)
	}
}
