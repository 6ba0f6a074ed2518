package policyfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/mountward/mountward/pkg/internal/file"
	"github.com/mountward/mountward/pkg/policy"
	"github.com/mountward/mountward/pkg/settings"
)

const (
	lastGoodName  = "last-good-policy.toml"
	lastGoodTitle = "# The last good policy, kept by mountward (v1). Do not edit."
	maxHeader     = 1 << 20 // the names of a thousand files
)

func lastGoodPath(s settings.Settings) string { return filepath.Join(s.StateDir, lastGoodName) }

// SaveLastGood keeps a policy that was loaded and found good, for the day when
// its files are bad or gone. A policy that is built in or was itself the last
// good one is not written. The copy is one file, which is replaced whole or not
// at all, also when the machine stops meanwhile.
//
// It is the texts of all files, one after the other, below lines of comment: the
// name of each file, with the size of each but the last, and the checksum of all.
func SaveLastGood(s settings.Settings, set Set) error {
	if set.Origin != OriginFile {
		return nil
	}
	if err := replaceLastGood(s, formatLastGood(set)); err != nil {
		return fmt.Errorf("save last good policy %s: %w", lastGoodPath(s), err)
	}
	return nil
}

func formatLastGood(set Set) []byte {
	files := append([]policy.File{set.Main}, set.DropIns...)
	var text bytes.Buffer
	fmt.Fprintln(&text, lastGoodTitle)
	for i, f := range files {
		fmt.Fprintf(&text, "# from %s", strconv.QuoteToASCII(f.Name))
		if i < len(files)-1 {
			fmt.Fprintf(&text, " %d", len(f.Data))
		}
		fmt.Fprintln(&text)
	}
	fmt.Fprintf(&text, "# sha256 %s\n", set.SHA256())
	for _, f := range files {
		text.Write(f.Data)
	}
	return text.Bytes()
}

func replaceLastGood(s settings.Settings, text []byte) error {
	if len(text) > MaxSize+maxHeader {
		return errors.New("the names of its files are too long")
	}
	if err := os.MkdirAll(s.StateDir, 0o700); err != nil {
		return err
	}
	if err := onlyOurs(s.StateDir); err != nil {
		return err
	}
	// A name of its own for each writer; the mode of a temporary file is 0600.
	f, err := os.CreateTemp(s.StateDir, "."+lastGoodName+"-*")
	if err != nil {
		return file.Bare(err)
	}
	defer os.Remove(f.Name()) // gone already when all went well
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return file.Bare(err)
	}
	if err := os.Rename(f.Name(), lastGoodPath(s)); err != nil {
		return file.Bare(err)
	}
	return syncDir(s.StateDir)
}

// LastGood returns the policy that SaveLastGood kept, and false where there
// never was one. A copy that is damaged or cannot be read is an error.
func LastGood(s settings.Settings) (Set, bool, error) {
	path := lastGoodPath(s)
	data, err := file.ReadRegular(path, MaxSize+maxHeader)
	if errors.Is(err, fs.ErrNotExist) && file.Absent(path) {
		return Set{}, false, nil
	}
	if err == nil {
		err = onlyOurs(s.StateDir)
	}
	if err != nil {
		return Set{}, false, fmt.Errorf("read last good policy %s: %w", path, err)
	}
	set, err := parseLastGood(data)
	if err != nil {
		return Set{}, false, fmt.Errorf("read last good policy %s: %w; remove the file to go on without it", path, err)
	}
	return set, true, nil
}

var errHeader = errors.New("its header is damaged")

func parseLastGood(data []byte) (Set, error) {
	title, rest, _ := bytes.Cut(data, []byte("\n"))
	if string(title) != lastGoodTitle {
		return Set{}, errHeader
	}
	var files []policy.File
	var sizes []int
	for {
		line, below, ok := bytes.Cut(rest, []byte("\n"))
		from, isFrom := strings.CutPrefix(string(line), "# from ")
		if !ok || !isFrom {
			break
		}
		name, size, err := parseFrom(from)
		if err != nil {
			return Set{}, errHeader
		}
		files, sizes, rest = append(files, policy.File{Name: name}), append(sizes, size), below
	}
	line, rest, ok := bytes.Cut(rest, []byte("\n"))
	want, isSum := strings.CutPrefix(string(line), "# sha256 ")
	if !ok || !isSum || len(files) == 0 {
		return Set{}, errHeader
	}
	for i, size := range sizes {
		if last := i == len(sizes)-1; last != (size < 0) || size > len(rest) {
			return Set{}, errHeader
		} else if last {
			size = len(rest)
		}
		files[i].Data, rest = rest[:size:size], rest[size:]
	}
	set := Set{Main: files[0], Origin: OriginLastGood}
	if len(files) > 1 {
		set.DropIns = files[1:]
	}
	if got := set.SHA256(); got != want {
		return Set{}, fmt.Errorf("its sha256 is %s, its header says %s", got, want)
	}
	return set, nil
}

// parseFrom reads the name of a file and its size, -1 where none is given.
func parseFrom(text string) (name string, size int, err error) {
	quoted, err := strconv.QuotedPrefix(text)
	if err != nil {
		return "", 0, err
	}
	if name, err = strconv.Unquote(quoted); err != nil || quoted == text {
		return name, -1, err
	}
	number, ok := strings.CutPrefix(text[len(quoted):], " ")
	if size, err = strconv.Atoi(number); err != nil || !ok || size < 0 {
		return "", 0, errHeader
	}
	return name, size, nil
}

// onlyOurs refuses a directory in which others can write: they could put a
// policy of theirs there. Neither its mode nor its owner is changed, since the
// setting may name a directory that others need.
func onlyOurs(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if mode := info.Mode().Perm(); mode&0o022 != 0 {
		return fmt.Errorf("%s is writable for others (mode %04o); run: chmod go-w %s", dir, mode, dir)
	}
	if of, ok := info.Sys().(*syscall.Stat_t); ok && of.Uid != 0 && int(of.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to user %d, who can write there; run: chown root %s", dir, of.Uid, dir)
	}
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return file.Bare(err)
	}
	return file.Bare(errors.Join(d.Sync(), d.Close()))
}
