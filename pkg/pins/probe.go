package pins

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mountward/mountward/pkg/internal/wait"
)

// Probe returns what reads the type of a file system from its device, which is in
// the directory dev, "/dev": of those that leave a sign in sysfs. It takes the
// right to read the device. A device that does not answer is waited for only
// shortly.
func Probe(dev string) func(name string) (string, error) {
	return func(name string) (string, error) {
		return wait.For(context.Background(), patience, func() (string, error) {
			f, err := os.Open(filepath.Join(dev, filepath.Base(name)))
			if err != nil {
				return "", err
			}
			defer f.Close()
			info, err := f.Stat()
			if err != nil {
				return "", err
			}
			if info.Mode()&os.ModeDevice == 0 || info.Mode()&os.ModeCharDevice != 0 {
				return "", fmt.Errorf("%s is no block device", f.Name())
			}
			head := make([]byte, 68<<10)
			n, err := f.ReadAt(head, 0)
			if n == 0 && err != nil {
				return "", err
			}
			return fsTypeOf(head[:n]), nil
		}, nil)
	}
}

// fsTypeOf tells the type of a file system by its magic number, "" for others
// than those that leave a sign in sysfs.
func fsTypeOf(head []byte) string {
	at := func(offset int, magic string) bool {
		return len(head) >= offset+len(magic) && bytes.HasPrefix(head[offset:], []byte(magic))
	}
	word := func(offset int) uint32 {
		if len(head) < offset+4 {
			return 0
		}
		return binary.LittleEndian.Uint32(head[offset:])
	}
	switch {
	case at(0, "XFSB"):
		return "xfs"
	case word(1024) == 0xf2f52010:
		return "f2fs"
	case word(1024) == 0xe0f5e1e2:
		return "erofs"
	case at(0x10040, "_BHRfS_M"):
		return "btrfs"
	case at(0x438, "\x53\xef"):
		return "ext4"
	}
	return ""
}
