package device

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Btrfs returns what the btrfs file system with the id is stored on, which can
// be several devices. Its superblock has an anonymous device number, so that
// the id has to be asked of the file system (BTRFS_IOC_FS_INFO), which tells
// the number of its devices as well; with 0 they are not compared. An error
// says that no such file system is mounted now.
func (f FS) Btrfs(fsid string, count int) (Chain, error) {
	return f.btrfs(fsid, count, f.layer, f.layer)
}

func (f FS) btrfs(fsid string, count int, read, again reader) (Chain, error) {
	c, err := f.pool(fsid, count, read)
	if errors.Is(err, fs.ErrNotExist) {
		c, err = f.pool(fsid, count, again)
	}
	if err != nil && len(c.Layers) == 0 {
		return Chain{}, fmt.Errorf("resolve btrfs %s: %w", fsid, err)
	}
	return c, nil
}

// pool follows the devices that sysfs lists. Of a degraded file system the
// missing ones are told apart by their "devinfo" (Linux 5.6 and later), and by
// the count.
func (f FS) pool(fsid string, count int, read reader) (Chain, error) {
	if !isUUID(fsid) {
		return Chain{}, fmt.Errorf("%q is not the id of a file system", fsid)
	}
	dir := filepath.Join(f.Sys, "fs", "btrfs", fsid)
	listed, err := os.Open(filepath.Join(dir, "devices"))
	if err != nil {
		return Chain{}, err
	}
	defer listed.Close()
	tops, err := devices(listed)
	if err != nil {
		return Chain{}, err
	}
	if len(tops) == 0 {
		return Chain{}, errors.New("sysfs lists no device of it")
	}
	c, err := follow(tops, read)
	c.Unknown = missing(dir, len(tops), count)
	return c, err
}

// missing says which of a file system's devices sysfs does not list.
func missing(dir string, listed, count int) string {
	absent, err := filepath.Glob(filepath.Join(dir, "devinfo", "*", "missing"))
	if err != nil {
		return err.Error()
	}
	var ids []string
	for _, path := range absent {
		text, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err.Error()
		}
		if strings.TrimSpace(string(text)) == "1" {
			ids = append(ids, filepath.Base(filepath.Dir(path)))
		}
	}
	switch {
	case len(ids) > 0:
		return "btrfs misses its device with the id " + strings.Join(ids, ", ")
	case listed < count: // more is one that grew from a seed
		return fmt.Sprintf("btrfs has %d devices, sysfs lists %d", count, listed)
	}
	return ""
}

// isUUID guards a path of sysfs: 8-4-4-4-12 hexadecimal digits.
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		hyphen := i == 8 || i == 13 || i == 18 || i == 23
		if hyphen != (s[i] == '-') || !hyphen && !strings.ContainsRune("0123456789abcdef", rune(s[i])) {
			return false
		}
	}
	return true
}
