package file

import (
	"fmt"
	"os"
	"syscall"
)

// Guarded returns an error where others than root and we could put files into a
// directory, which we would then believe. It does not name the path, but in what
// to do about it.
func Guarded(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return Bare(err)
	}
	if !info.IsDir() {
		return syscall.ENOTDIR
	}
	if mode := info.Mode().Perm(); mode&0o022 != 0 {
		return fmt.Errorf("the directory is writable for others (mode %04o); run: chmod go-w %s", mode, dir)
	}
	if owner := info.Sys().(*syscall.Stat_t).Uid; owner != 0 && int(owner) != os.Geteuid() {
		return fmt.Errorf("the directory is of user %d; run: chown root %s", owner, dir)
	}
	return nil
}
