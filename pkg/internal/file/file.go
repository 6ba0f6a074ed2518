// Package file reads the files that an administrator writes, and tells in which
// directories others could put some.
package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"
)

// ErrLarger matches the error of ReadRegular for a file beyond the limit.
var ErrLarger = errors.New("larger than")

// ReadRegular reads a file of at most limit bytes. It follows symbolic links, as
// a ConfigMap's files are, and does not wait for the other end of a FIFO. Errors
// do not name the path.
func ReadRegular(path string, limit int) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, Bare(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, Bare(err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("not a regular file (%s)", info.Mode().Type())
	}
	data, err := io.ReadAll(io.LimitReader(file, int64(limit)+1))
	if err != nil {
		return nil, Bare(err)
	}
	if len(data) > limit {
		return nil, fmt.Errorf("%w %d bytes", ErrLarger, limit)
	}
	return data, nil
}

// Names returns the sorted names in a directory that has at most limit of them.
// Errors do not name the path.
func Names(dir string, limit int) ([]string, error) {
	d, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, Bare(err)
	}
	defer d.Close()
	names, err := d.Readdirnames(limit + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, Bare(err)
	}
	if len(names) > limit {
		return nil, fmt.Errorf("more than %d names in the directory", limit)
	}
	slices.Sort(names)
	return names, nil
}

// Absent reports that nothing is at path, not even a link that leads nowhere.
func Absent(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// Bare takes the operation and the path off an error of package os; the caller
// names both in its own words.
func Bare(err error) error {
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
