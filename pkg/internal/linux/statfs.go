package linux

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// FSInfo is what statfs(2) tells of a file system.
type FSInfo struct {
	Type                     int64 // the magic number
	BlockSize, Blocks, Files uint64
	FSID                     [2]uint32 // f_fsid
}

// Fstatfs asks the file system of an open file, which may be open for reference
// only (Linux 3.12). It can hang as long as that does not answer.
func Fstatfs(f *os.File) (FSInfo, error) {
	var st unix.Statfs_t
	for {
		err := unix.Fstatfs(int(f.Fd()), &st)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return FSInfo{}, &os.PathError{Op: "fstatfs", Path: f.Name(), Err: err}
		}
		return FSInfo{
			Type: st.Type, BlockSize: uint64(st.Bsize), Blocks: st.Blocks, Files: st.Files,
			FSID: [2]uint32{uint32(st.Fsid.Val[0]), uint32(st.Fsid.Val[1])},
		}, nil
	}
}
