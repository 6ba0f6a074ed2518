package settings

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/mountward/mountward/pkg/internal/strict"
)

// maxSize is the largest file an administrator may write, in bytes.
const maxSize = strict.MaxSize

// readRegular reads a file of at most limit bytes. It follows symbolic links,
// as a ConfigMap's files are, and does not wait for the other end of a FIFO.
// Errors do not name the path.
func readRegular(path string, limit int) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, bare(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, bare(err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("not a regular file (%s)", info.Mode().Type())
	}
	data, err := io.ReadAll(io.LimitReader(file, int64(limit)+1))
	if err != nil {
		return nil, bare(err)
	}
	if len(data) > limit {
		return nil, fmt.Errorf("larger than %d bytes", limit)
	}
	return data, nil
}

// absent reports that nothing is at path, not even a link that leads nowhere.
func absent(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// bare takes the operation and the path off an error of package os; the caller
// names both in its own words.
func bare(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	default:
		return err
	}
}
