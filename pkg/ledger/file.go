package ledger

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/mountward/mountward/pkg/internal/file"
)

const (
	extension = ".json"
	maxID     = 200      // bytes; containerd allows 76
	maxSize   = 16 << 20 // bytes of one file; an entry has some ten thousand
)

// checkID accepts what containerd calls a valid identifier, which cannot be a
// path, a hidden file or "..".
func checkID(id string) error {
	const alnum = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	if id == "" || len(id) > maxID || strings.Trim(id, alnum+"_.-") != "" || !strings.Contains(alnum, id[:1]) {
		return fmt.Errorf("container id %.210q: want at most %d letters, digits, '_', '.', '-', the first a letter or digit", id, maxID)
	}
	return nil
}

func (l *Ledger) path(id string) string { return filepath.Join(l.dir, id+extension) }

// temporary returns a name that is no entry's: no id starts with a dot. It is
// the same each time, so that crashes do not fill the directory.
func (l *Ledger) temporary(id string) string { return filepath.Join(l.dir, "."+id+".tmp") }

// prepare makes the directory, which can be lost under a running daemon.
func (l *Ledger) prepare() error {
	err := l.check()
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(l.dir, 0o700); err != nil {
			return err
		}
		err = l.check()
	}
	return err
}

// check refuses a directory in which others could write what we then believe.
func (l *Ledger) check() error { return file.Guarded(l.dir) }

// write replaces an entry. It does not wait for a disk: what the machine loses
// in a crash, it loses together with the container.
func (l *Ledger) write(id string, data []byte) error {
	if err := l.prepare(); err != nil {
		return err
	}
	temporary := l.temporary(id)
	err := os.WriteFile(temporary, data, 0o600)
	if err == nil {
		err = os.Rename(temporary, l.path(id))
	}
	if err != nil {
		return file.Bare(errors.Join(err, ignoreAbsent(os.Remove(temporary))))
	}
	return nil
}

func (l *Ledger) read(id string) ([]byte, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(l.path(id), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, file.Bare(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return nil, file.Bare(err)
	}
	if len(data) > maxSize {
		return nil, fmt.Errorf("larger than %d bytes", maxSize)
	}
	return data, nil
}

func ignoreAbsent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
