package audit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// fileSink appends JSON lines to a file that may be rotated away at any time.
type fileSink struct {
	path string
	file *os.File
	torn bool // the last line was not written to its end
}

// newFileSink returns a sink for path. The file is made when the first record
// comes, so that a file that cannot be opened now is opened when it can.
func newFileSink(path string) (*fileSink, error) {
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("open audit file %q: want an absolute path", path)
	}
	return &fileSink{path: path}, nil
}

func (s *fileSink) String() string { return "file " + s.path }

func (s *fileSink) write(r record) error {
	if err := s.reopen(); err != nil {
		return err
	}
	line := make([]byte, 0, len(r.line)+2)
	if s.torn {
		line = append(line, '\n')
	}
	line = append(append(line, r.line...), '\n')
	n, err := s.file.Write(line)
	if n > 0 {
		s.torn = n < len(line)
	}
	return err
}

// reopen opens the file where it is not open, or where the path leads to
// another one now.
func (s *fileSink) reopen() error {
	if s.file != nil {
		at, err := os.Stat(s.path)
		if err == nil {
			var open os.FileInfo
			if open, err = s.file.Stat(); err == nil && os.SameFile(at, open) {
				return nil
			}
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if err := s.close(); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(s.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	s.file, s.torn = file, false
	return nil
}

func (s *fileSink) close() error {
	if s.file == nil {
		return nil
	}
	file := s.file
	s.file = nil
	return file.Close()
}
