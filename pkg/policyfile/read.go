package policyfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/mountward/mountward/pkg/internal/file"
	"github.com/mountward/mountward/pkg/internal/strict"
	"github.com/mountward/mountward/pkg/policy"
)

// The limits of what is read.
const (
	MaxSize    = strict.MaxSize // bytes of all files of a policy together
	maxDropIns = 1000
	maxNames   = 10_000 // in the directory, whatever they are
)

// passes is how often the files are read until two passes in a row agree.
const passes = 5

// ErrChanging matches the error for files of which no two passes agreed.
var ErrChanging = errors.New("its files change while they are read")

// passPause is between two that do not.
const passPause = 10 * time.Millisecond

// Read reads the policy whose main file is at path, not parsing it.
//
// An administrator, or the kubelet with a ConfigMap, may exchange the files
// meanwhile. What is returned was the same twice in a row, so that no half of an
// old policy is taken together with half of a new one.
func Read(path string) (Set, error) {
	set, err := agreed(func() (Set, error) { return readOnce(path) })
	if errors.Is(err, ErrChanging) {
		err = fmt.Errorf("read policy %s: %w; try again", path, err)
	}
	return set, err
}

// agreed reads until two passes in a row are the same.
func agreed(pass func() (Set, error)) (Set, error) {
	set, err := pass()
	for range passes - 1 {
		again, againErr := pass()
		if same(set, again) && text(err) == text(againErr) {
			return again, againErr
		}
		set, err = again, againErr
		time.Sleep(passPause)
	}
	return Set{}, ErrChanging
}

func same(a, b Set) bool {
	equal := func(a, b policy.File) bool { return a.Name == b.Name && bytes.Equal(a.Data, b.Data) }
	return equal(a.Main, b.Main) && slices.EqualFunc(a.DropIns, b.DropIns, equal)
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// readOnce returns what it has read also where the main file is missing.
func readOnce(path string) (Set, error) {
	set := Set{Main: policy.File{Name: path}, Origin: OriginFile}
	data, mainErr := file.ReadRegular(path, MaxSize)
	if mainErr != nil && !errors.Is(mainErr, fs.ErrNotExist) {
		return Set{}, fmt.Errorf("read policy %s: %w", path, mainErr)
	}
	set.Main.Data = data
	left := MaxSize - len(data)
	dir := filepath.Join(filepath.Dir(path), policy.DropInDir)
	names, err := dropIns(dir)
	if err != nil {
		return Set{}, fmt.Errorf("read policy directory %s: %w", dir, err)
	}
	for _, name := range names {
		f := policy.File{Name: filepath.Join(dir, name)}
		if f.Data, err = readDropIn(f.Name, left); err != nil {
			return Set{}, fmt.Errorf("read policy %s: %w", f.Name, err)
		}
		left -= len(f.Data)
		set.DropIns = append(set.DropIns, f)
	}
	if mainErr != nil {
		return set, fmt.Errorf("read policy %s: %w", path, mainErr)
	}
	return set, nil
}

// dropIns returns the names of the drop-ins in a directory, in their order; none
// where there is no directory.
func dropIns(dir string) ([]string, error) {
	all, err := file.Names(dir, maxNames)
	if errors.Is(err, fs.ErrNotExist) && file.Absent(dir) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range all {
		if !DropIn(name) {
			continue
		}
		if err := dropInName(name); err != nil {
			return nil, err
		}
		if names = append(names, name); len(names) > maxDropIns {
			return nil, fmt.Errorf("more than %d drop-ins", maxDropIns)
		}
	}
	return names, nil
}

// dropInSuffix ends the names of drop-ins.
const dropInSuffix = ".toml"

// DropIn reports whether a file of policy.d is read, by its name.
func DropIn(name string) bool {
	return !strings.HasPrefix(name, ".") && strings.HasSuffix(name, dropInSuffix)
}

// dropInName tells what keeps a file of that name from being a drop-in.
func dropInName(name string) error {
	switch {
	case !DropIn(name):
		return fmt.Errorf("no file of %s is read that is hidden or does not end in %s: rename it", policy.DropInDir, dropInSuffix)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unprintable):
		return fmt.Errorf("the file name %q has a backslash, or what cannot be printed: rename it", name)
	case strings.HasSuffix(name, "_test.toml"):
		return fmt.Errorf("%s is named as the tests of a policy are, which stand beside the main file: move it there, or rename it if it has rules", name)
	}
	return nil
}

// unprintable reports what would forge lines of output, or what sha256sum does
// not print as it is.
func unprintable(r rune) bool { return !unicode.IsPrint(r) || r == '\\' }

func readDropIn(path string, left int) ([]byte, error) {
	data, err := file.ReadRegular(path, left)
	switch {
	case errors.Is(err, file.ErrLarger):
		return nil, errors.New("the policy's files up to this one are larger than 1 MiB together")
	case err == nil && len(data) == 0:
		return nil, errors.New("the file is empty, as one that is still being written or was lost in a crash: fill it, or remove it")
	}
	return data, err
}
