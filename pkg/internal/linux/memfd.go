package linux

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// sealedForGood are the seals journald asks of a memory file before it reads
// one: nobody can change the content any more, and nobody can take that back.
// Source: systemd src/basic/memfd-util.c, memfd_get_sealed.
const sealedForGood = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE | unix.F_SEAL_SEAL

// SealedMemfd returns a file in memory that holds data and can never be
// changed again, fit to be passed to another process. The name shows in
// /proc/<pid>/fd only. The caller closes the file. Requires at least Linux
// 3.17.
func SealedMemfd(name string, data []byte) (*os.File, error) {
	fd, err := memfdCreate(name)
	if err != nil {
		return nil, fmt.Errorf("create memory file %s: %w", name, err)
	}
	file := os.NewFile(uintptr(fd), name)
	if _, err := file.Write(data); err != nil {
		return nil, errors.Join(fmt.Errorf("write memory file %s: %w", name, err), file.Close())
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, sealedForGood); err != nil {
		return nil, errors.Join(fmt.Errorf("seal memory file %s: %w", name, err), file.Close())
	}
	return file, nil
}

// memfdCreate asks for MFD_NOEXEC_SEAL (Linux 6.3) only where the sysctl
// vm.memfd_noexec = 2 refuses a file without it: that flag adds a seal, and
// older readers compare the set of seals for equality.
func memfdCreate(name string) (int, error) {
	const flags = unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING
	fd, err := unix.MemfdCreate(name, flags)
	if errors.Is(err, unix.EACCES) {
		return unix.MemfdCreate(name, flags|unix.MFD_NOEXEC_SEAL)
	}
	return fd, err
}
