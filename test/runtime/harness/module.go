//go:build linux

package harness

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

const modulePath = "github.com/mountward/mountward/test/runtime"

// moduleDir finds the sources of this module: where this file was compiled, or
// else in or below a parent of the working directory, for a program that was
// built with -trimpath.
func moduleDir() (string, error) {
	if _, file, _, ok := runtime.Caller(0); ok {
		if dir := filepath.Dir(filepath.Dir(file)); isModule(dir) {
			return dir, nil
		}
	}
	wd, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find module %s: %w", modulePath, err)
	}
	for dir := wd; ; dir = filepath.Dir(dir) {
		for _, candidate := range []string{dir, filepath.Join(dir, "test", "runtime")} {
			if isModule(candidate) {
				return candidate, nil
			}
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("find module %s: not in %s, not above it", modulePath, wd)
		}
	}
}

func isModule(dir string) bool {
	f, err := os.Open(filepath.Join(dir, "go.mod"))
	if err != nil {
		return false
	}
	defer f.Close()
	for scanner := bufio.NewScanner(f); scanner.Scan(); {
		if name, ok := strings.CutPrefix(scanner.Text(), "module "); ok {
			return strings.TrimSpace(name) == modulePath
		}
	}
	return false
}
