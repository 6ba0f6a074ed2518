package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	lastGoodName  = "last-good-policy.toml"
	lastGoodTitle = "# The last good policy, kept by mountward (v1). Do not edit."
	headerSize    = 16 << 10 // more than a quoted path needs
)

func (s Settings) lastGoodPath() string { return filepath.Join(s.StateDir, lastGoodName) }

// SaveLastGood keeps a policy that was loaded and found good, for the day when
// the file is bad or gone. A policy that is built in or was itself the last
// good one is not written. The file is replaced whole or not at all, also when
// the machine stops meanwhile.
//
// It is a policy text like any other below three lines of comment.
func (s Settings) SaveLastGood(p PolicyFile) error {
	if p.Origin != OriginFile {
		return nil
	}
	var text bytes.Buffer
	fmt.Fprintf(&text, "%s\n# from %s\n# sha256 %s\n", lastGoodTitle, strconv.QuoteToASCII(p.Name), p.SHA256())
	text.Write(p.Data)
	if err := s.replaceLastGood(text.Bytes()); err != nil {
		return fmt.Errorf("save last good policy %s: %w", s.lastGoodPath(), err)
	}
	return nil
}

func (s Settings) replaceLastGood(text []byte) error {
	if err := os.MkdirAll(s.StateDir, 0o700); err != nil {
		return err
	}
	if err := onlyOurs(s.StateDir); err != nil {
		return err
	}
	// A name of its own for each writer; the mode of a temporary file is 0600.
	file, err := os.CreateTemp(s.StateDir, "."+lastGoodName+"-*")
	if err != nil {
		return bare(err)
	}
	defer os.Remove(file.Name()) // gone already when all went well
	_, err = file.Write(text)
	if err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return bare(err)
	}
	if err := os.Rename(file.Name(), s.lastGoodPath()); err != nil {
		return bare(err)
	}
	return syncDir(s.StateDir)
}

// LastGood returns the policy that SaveLastGood kept, and false where there
// never was one. A copy that is damaged or cannot be read is an error.
func (s Settings) LastGood() (PolicyFile, bool, error) {
	path := s.lastGoodPath()
	data, err := readRegular(path, maxSize+headerSize)
	if errors.Is(err, fs.ErrNotExist) && absent(path) {
		return PolicyFile{}, false, nil
	}
	if err == nil {
		err = onlyOurs(s.StateDir)
	}
	if err != nil {
		return PolicyFile{}, false, fmt.Errorf("read last good policy %s: %w", path, err)
	}
	p, err := parseLastGood(data)
	if err != nil {
		return PolicyFile{}, false, fmt.Errorf("read last good policy %s: %w; remove the file to go on without it", path, err)
	}
	return p, true, nil
}

func parseLastGood(data []byte) (PolicyFile, error) {
	title, rest, _ := bytes.Cut(data, []byte("\n"))
	from, rest, _ := bytes.Cut(rest, []byte("\n"))
	sum, rest, ok := bytes.Cut(rest, []byte("\n"))
	quoted, isFrom := strings.CutPrefix(string(from), "# from ")
	want, isSum := strings.CutPrefix(string(sum), "# sha256 ")
	name, err := strconv.Unquote(quoted)
	if !ok || string(title) != lastGoodTitle || !isFrom || !isSum || err != nil {
		return PolicyFile{}, errors.New("its header is damaged")
	}
	p := PolicyFile{Name: name, Data: rest, Origin: OriginLastGood}
	if got := p.SHA256(); got != want {
		return PolicyFile{}, fmt.Errorf("its sha256 is %s, its header says %s", got, want)
	}
	return p, nil
}

// onlyOurs refuses a directory in which others can write: they could put a
// policy of theirs there. Its mode is not changed, since the setting may name a
// directory that others need.
func onlyOurs(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if mode := info.Mode().Perm(); mode&0o022 != 0 {
		return fmt.Errorf("%s is writable for others (mode %04o); run: chmod go-w %s", dir, mode, dir)
	}
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return bare(err)
	}
	return bare(errors.Join(d.Sync(), d.Close()))
}
