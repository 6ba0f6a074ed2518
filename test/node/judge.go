//go:build linux

package main

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// judge takes the results off the machine's second disk, where they are a tar
// archive without a file system, and says whether all tests ran and passed.
func (n *node) judge() error {
	if err := extract(n.resultsDisk(), n.results); err != nil {
		return fmt.Errorf("%w (did the machine start? see %s)", err, filepath.Join(n.results, "console"))
	}
	code, err := os.ReadFile(filepath.Join(n.results, "exit-code"))
	if err != nil {
		return fmt.Errorf("read results: %w", err)
	}
	output, err := os.ReadFile(filepath.Join(n.results, "output"))
	if err != nil {
		return fmt.Errorf("read results: %w", err)
	}
	verdict, err := judge(strings.TrimSpace(string(code)), string(output))
	fmt.Print(failures(string(output)))
	fmt.Printf("== %s: %s; see %s\n", n.suite, verdict, n.results)
	return err
}

// judge counts the verdicts of a "go test -v". A test that is skipped proves
// nothing: in the machine none has a reason to.
func judge(code, output string) (verdict string, err error) {
	count := make(map[string]int)
	for _, match := range regexp.MustCompile(`(?m)^ *--- (PASS|FAIL|SKIP): `).FindAllStringSubmatch(output, -1) {
		count[match[1]]++
	}
	verdict = fmt.Sprintf("%d passed, %d failed, %d skipped, exit code %s", count["PASS"], count["FAIL"], count["SKIP"], code)
	switch {
	case code != "0" || count["FAIL"] != 0:
		err = errors.New("tests failed")
	case count["SKIP"] != 0:
		err = errors.New("tests were skipped")
	case count["PASS"] == 0:
		err = errors.New("no test ran")
	}
	return verdict, err
}

// extract unpacks the files of a flat tar archive into a directory.
func extract(archive, dir string) error {
	f, err := os.Open(archive)
	if err != nil {
		return fmt.Errorf("open results: %w", err)
	}
	defer f.Close()
	count := 0
	for r := tar.NewReader(f); ; count++ {
		header, err := r.Next()
		if errors.Is(err, io.EOF) && count == 0 {
			return errors.New("read results: there are none")
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read results: %w", err)
		}
		if header.Typeflag != tar.TypeReg || !filepath.IsLocal(header.Name) {
			continue
		}
		out, err := create(filepath.Join(dir, header.Name), 0o644)
		if err != nil {
			return err
		}
		_, err = io.Copy(out, r)
		if err := errors.Join(err, out.Close()); err != nil {
			return fmt.Errorf("unpack %s: %w", header.Name, err)
		}
	}
}
